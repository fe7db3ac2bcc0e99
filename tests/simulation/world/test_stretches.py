"""Requests passed as arrays, while nobody waits, leave behind what one after the other would."""

from collections import deque
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import Priority
from controlplane.simulation.traffic import Chunk
from controlplane.simulation.world import World, station
from controlplane.simulation.world.slots import Run
from controlplane.simulation.world.source import Page
from controlplane.simulation.world.stretches import Passed, Stretch
from controlplane.simulation.world.turn_by_turn import the_long_way
from tests.simulation.world.fleets import (
    CHAT,
    START,
    Row,
    Rows,
    a_catalogue,
    a_model,
    a_world,
    poisson,
)
from tests.simulation.world.test_laws import make, moves

SLOTS = 6
NEVER_AS_ARRAYS = 1 << 40


class Given(NamedTuple):
    """A scenario: its requests, its policy, and how even their figures are."""

    seed: int
    rates: dict[int, float]
    mean_s: float
    grain: float  # times are multiples of it, so that ends fall together; 0 leaves them as drawn
    policy: AdmissionPolicy
    serving: int
    self_serving: bool


@st.composite
def scenarios(draw: st.DrawFn) -> Given:
    return Given(
        seed=draw(st.integers(0, 1000)),
        rates={rank: draw(st.sampled_from([0.0, 1.0, 4.0, 9.0])) for rank in (0, 1, 2)},
        mean_s=draw(st.sampled_from([0.1, 0.4, 1.5])),
        grain=draw(st.sampled_from([0.0, 0.0, 0.25])),
        policy=AdmissionPolicy(
            limits=draw(st.sampled_from(["scaled", "scaled", "scaled", "fixed"])),
            fixed_limits={Priority.HIGH: 3, Priority.MEDIUM: 2, Priority.LOW: 1},
            queue_bounds={p: draw(st.sampled_from([0, 2, 20])) for p in Priority},
            reserve=draw(st.integers(0, 2)),
            minimum_service_s=draw(st.sampled_from([None, 5.0])),
            ageing_s=draw(st.sampled_from([None, 2.0])),
            max_wait_s=draw(st.sampled_from([{}, {Priority.LOW: 4.0}])),
            single_queue=draw(st.sampled_from([False, False, True])),
        ),
        serving=draw(st.integers(0, 3)),
        self_serving=draw(st.booleans()),
    )


def built(given: Given) -> World:
    rows = poisson(given.seed, 120.0, given.rates, given.mean_s)
    if given.grain:
        rows = sorted((_rounded(at, given.grain), r, _rounded(s, given.grain)) for at, r, s in rows)
    model = a_model(given.policy, slots=SLOTS, service_s=given.mean_s, load_s=5.0)
    catalogue = a_catalogue({CHAT: model}, zones=("z1", "z2"))
    traffic = {CHAT: Rows(rows, size=700)}
    serving, self_serving = given.serving, given.self_serving
    return a_world((), catalogue, serving, traffic, self_serving=self_serving, grace_s=3.0)


def _rounded(figure: float, grain: float) -> float:
    return round(figure / grain) * grain


class Course(NamedTuple):
    """What became of a world, step by step: two courses are one if all of it is equal."""

    standing: list[Any]  # who runs where, who waits, and what was counted of whom
    measured: list[Any]  # all that is seen, and what sums of seconds come to


def course(given: Given, moves: Sequence[tuple[str, int, int, float]], a_few: int) -> Course:
    """Let things be done to a world; so many requests at least pass as arrays."""
    world, became, second = built(given), Course([], []), 0.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(station, "A_FEW", a_few)
        for kind, which, what, seconds in [*moves, ("", 0, 0, 40.0), ("", 0, 0, 300.0)]:
            make(world, kind, which, what)
            second += seconds
            while world.advance(START + second) < START + second:
                became.measured.append(world.observe())
            became.measured.append(world.observe())
            note(world, became)
    return became


def note(world: World, became: Course) -> None:
    here, tally = world._stations[CHAT], world.tally(CHAT)
    slots, admission = here.slots, here.admission
    became.standing.append(
        [
            (world.now, sorted(slots.running), list(slots.free), list(slots.lent)),
            (admission.free, admission.lent_free, *admission.in_flight, *admission.queued),
            (tally.first_breach_at, tally.first_added_serving_at),
        ]
    )
    for one in tally.classes.values():
        counted = (one.arrived, one.served, one.failed, one.in_time, one.rejected)
        became.standing.append([counted, one.wait.max, one.wait.buckets.tolist()])
        became.measured.append([one.latency.max, one.latency.buckets.tolist()])
    became.measured.append(tally.busy_slot_s)


@given(scenarios(), moves, st.sampled_from([1, 3, 16]))
@settings(max_examples=60, deadline=None)
def test_whatever_is_done_arrays_leave_behind_what_one_after_the_other_would(
    given: Given, moves: list[tuple[str, int, int, float]], a_few: int
) -> None:
    one_by_one = course(given, moves, NEVER_AS_ARRAYS)
    assert course(given, moves, a_few) == one_by_one
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(station, "one_by_one", the_long_way)  # admission is asked for everyone
        asked = course(given, moves, NEVER_AS_ARRAYS)
    assert asked.standing == one_by_one.standing


def handed_round(rows: Sequence[Row], runs: list[Run], free: list[int]) -> Passed | None:
    """Do by hand what a stretch does: pop what has ended, take the slot that was free longest."""
    heapify(runs)
    queue, held = deque(free), [0, 0, 0]
    for at, rank, service_s in rows:
        while runs and runs[0][0] <= at:
            _, slot, done, _, _ = heappop(runs)
            queue.append(slot)
            held[done] -= 1
        if not queue:
            return None
        heappush(runs, (at + service_s, queue.popleft(), rank, at, at))
        held[rank] += 1
    return Passed(sorted(runs), list(queue), held)


def a_page(seed: int, rate: float, requests: int = 400) -> tuple[Page, list[Row]]:
    chance = np.random.default_rng(seed)
    at = np.cumsum(chance.exponential(1 / rate, requests))
    rank = chance.integers(0, 3, requests).astype(np.int8)
    service_s = chance.exponential(1.0, requests)
    rows = list(zip(at.tolist(), rank.tolist(), service_s.tolist(), strict=True))
    return Page(Chunk(at, rank, service_s)), rows


@given(st.integers(0, 10_000), st.sampled_from([3.0, 8.0]), st.integers(1, 10), st.data())
@settings(deadline=None)
def test_a_stretch_reaches_to_the_first_who_would_wait_and_hands_slots_round(
    seed: int, rate: float, busy: int, data: st.DataObject
) -> None:
    page, rows = a_page(seed, rate)
    first = data.draw(st.integers(0, len(rows) - 1))
    slots = list(range(1, 16))
    ends = np.random.default_rng(seed).uniform(rows[first][0], rows[first][0] + 2.0, busy)
    runs: list[Run] = sorted((e, slots.pop(), 1, 0.0, 0.0) for e in ends.tolist())
    stretch = Stretch(page, first, runs)
    until = stretch.reach(len(rows), len(slots), (0, 0, 0))
    by_hand = handed_round(rows[first:until], list(runs), slots)
    passed = stretch.through(until, slots)
    assert passed is not None
    assert passed._replace(runs=sorted(passed.runs)) == by_hand
    if until < len(rows):
        assert handed_round(rows[first : until + 1], list(runs), slots) is None


def test_where_ends_fall_together_a_stretch_stops_before_or_is_left_to_the_loop() -> None:
    at, rank = np.array([1.0, 2.0, 3.0, 9.0]), np.zeros(4, np.int8)
    page = Page(Chunk(at, rank, np.array([4.0, 3.0, 1.0, 1.0])))  # two end at 5
    assert Stretch(page, 0, []).reach(4, 9, (0, 0, 0)) == 3
    page = Page(Chunk(at, rank, np.array([4.0, 5.0, 1.0, 1.0])))
    with_it: Run = (4.0, 9, 0, 0.0, 0.0)  # ends with the third
    assert Stretch(page, 0, [with_it]).through(4, [1, 2, 3, 4]) is None


def test_a_request_that_takes_no_time_is_left_to_the_loop() -> None:
    page = Page(Chunk(np.array([1.0, 2.0]), np.zeros(2, np.int8), np.array([1.0, 0.0])))
    assert Stretch(page, 0, []).reach(2, 9, (0, 0, 0)) == 1
