"""Counters become rates: resets, replicas that come and go, what was refused, what waited."""

import asyncio
import math

from controlplane.adapters.engines.names import NAMES
from controlplane.adapters.engines.page import Buckets, Page
from controlplane.adapters.engines.tally import Distribution, Tally
from controlplane.domain.samples import IDLE, NOT_YET, Absence, NoData, Value, Zero
from tests.adapters.engines.watching import (
    an_engine,
    load_now,
    load_when,
    restarted,
    state_when,
    watched,
)
from tests.builders import a_policy
from tests.emulation.stand import emulated

VLLM, TGI, TRITON = NAMES["vllm"], NAMES["tgi"], NAMES["triton"]


def a_page(**figures: float) -> Page:
    return Page(figures, {}, None, None)


def arrived(tally: Tally, at: float) -> float:
    """The sum so far, by way of a rate over a window that began at 0."""
    rate = tally.rate(lambda mark: mark.arrived, at, at)
    assert rate.x is not None
    return rate.x * at


def begun() -> Tally:
    tally = Tally()
    tally.mark(0.0, 60.0, 15.0)
    return tally


def test_what_arrived_is_what_left_and_what_is_in_it_now_and_was_not_before() -> None:
    tally = begun()

    tally.add(
        a_page(finished=100, queue=2, running=4), a_page(finished=110, queue=5, running=4), VLLM
    )

    assert arrived(tally, 1.0) == 13.0


def test_the_refused_have_arrived_too() -> None:
    tally = begun()

    tally.add(a_page(finished=0, refused=1), a_page(finished=5, refused=4), VLLM)

    assert arrived(tally, 1.0) == 8.0
    assert tally.rate(lambda mark: mark.refused, 1.0, 1.0) == Value(3.0, 1.0)


def test_an_engine_that_counts_what_it_received_is_believed() -> None:
    tally = begun()

    tally.add(a_page(received=10, refused=0, queue=0), a_page(received=16, refused=2, queue=3), TGI)

    assert arrived(tally, 1.0) == 6.0


def test_the_refused_are_not_counted_twice_where_they_are_among_the_failures() -> None:
    tally = begun()
    before, after = {"finished": 0, "finished_too": 0, "refused": 0}, {}
    after = {"finished": 4, "finished_too": 3, "refused": 2}

    tally.add(a_page(**before), a_page(**after), TRITON)

    assert arrived(tally, 1.0) == 7.0


def test_a_counter_that_fell_began_anew_and_is_no_negative_rate() -> None:
    tally = begun()

    tally.add(a_page(finished=1000, queue=9, running=4), a_page(finished=3, running=1), VLLM)

    assert arrived(tally, 1.0) == 4.0  # three ended since the restart, one is in it


def test_a_series_that_appears_with_its_first_count_has_grown_from_nothing() -> None:
    tally = begun()

    tally.add(a_page(received=5), a_page(received=9, refused=2), TGI)

    assert tally.rate(lambda mark: mark.refused, 1.0, 1.0) == Value(2.0, 1.0)


def test_a_rate_is_not_known_before_its_window_is_covered() -> None:
    tally = begun()
    tally.mark(10.0, 60.0, 15.0)

    assert tally.rate(lambda mark: mark.arrived, 60.0, 10.0) == NOT_YET
    assert tally.rate(lambda mark: mark.arrived, 5.0, 10.0) != NOT_YET


def test_after_too_few_answered_for_a_while_rates_begin_anew() -> None:
    tally = begun()
    tally.forget()
    tally.mark(100.0, 60.0, 15.0)

    assert tally.rate(lambda mark: mark.arrived, 60.0, 101.0) == NOT_YET


def test_the_mean_service_time_is_the_time_in_slots_over_the_requests_it_is_of() -> None:
    tally, nobody = begun(), begun()

    tally.add(a_page(busy=10.0, served=20), a_page(busy=13.0, served=32), VLLM)

    assert tally.service_s(15.0, 1.0) == Value(0.25, 1.0)
    assert nobody.service_s(15.0, 1.0) == IDLE


def test_microseconds_are_seconds_once_the_time_before_the_slot_is_taken_off() -> None:
    tally = begun()
    before = a_page(busy_with_wait=0, waited=0, served=0)

    tally.add(before, a_page(busy_with_wait=9_000_000, waited=3_000_000, served=12), TRITON)

    assert tally.service_s(15.0, 1.0) == Value(0.5, 1.0)


def test_a_distribution_holds_what_was_added_between_two_looks() -> None:
    seen = Distribution()
    before = Buckets({0.3: 5.0, 1.0: 9.0, math.inf: 10.0}, 7.0)

    seen.add(before, Buckets({0.3: 5.0, 1.0: 12.0, math.inf: 14.0}, 11.0))

    assert seen.counts == {1.0: 3.0, math.inf: 1.0}
    assert seen.total_s == 4.0


def test_a_distribution_after_a_restart_is_all_that_was_seen_since() -> None:
    seen = Distribution()

    seen.add(Buckets({0.3: 5.0, math.inf: 10.0}, 7.0), Buckets({0.3: 2.0, math.inf: 3.0}, 1.5))

    assert seen.counts == {0.3: 2.0, math.inf: 1.0}
    assert seen.total_s == 1.5


def test_engines_with_other_buckets_are_added_up_by_bound() -> None:
    seen = Distribution()
    seen.add(Buckets({0.3: 0.0, math.inf: 0.0}, 0.0), Buckets({0.3: 4.0, math.inf: 4.0}, 0.4))
    seen.add(Buckets({0.1: 0.0, math.inf: 0.0}, 0.0), Buckets({0.1: 2.0, math.inf: 3.0}, 9.0))

    assert seen.counts == {0.1: 2.0, 0.3: 4.0, math.inf: 1.0}


async def test_arrivals_at_an_engine_are_measured_while_they_come_and_no_longer() -> None:
    async with emulated(slots=4) as stand, watched([an_engine(stand)]) as fleet:
        await load_when(fleet, lambda _, c: isinstance(c.arrivals, Zero))
        ended = asyncio.Event()

        async def keep_sending() -> None:
            while not ended.is_set():
                await asyncio.gather(*stand.begin(4))

        sending = asyncio.create_task(keep_sending())
        load, _ = await load_when(
            fleet, lambda load, c: bool(c.arrivals.x and c.arrivals_steady.x and load.service_s.x)
        )
        ended.set()
        await sending
        await load_when(fleet, lambda _, c: isinstance(c.arrivals, Zero))

    assert load.service_s.x is not None
    assert load.service_s.x >= 0.01


async def test_a_queue_in_the_engine_shows_in_the_wait() -> None:
    async with emulated(slots=1, service_s=0.05) as stand, watched([an_engine(stand)]) as fleet:
        await load_when(fleet, lambda _, c: c.queue.x is not None)
        sent = stand.begin(30)

        await load_when(fleet, lambda _, c: (c.wait_p99.x or 0.0) > 0.5)

        await asyncio.gather(*sent)


async def test_refusals_of_the_engine_are_turned_away() -> None:
    async with (
        emulated(slots=1, service_s=0.3, queue_limit=1) as stand,
        watched([an_engine(stand)]) as fleet,
    ):
        await load_when(fleet, lambda _, c: isinstance(c.turned_away, Zero))
        sent = stand.begin(6)

        await load_when(fleet, lambda _, c: (c.turned_away.x or 0.0) > 0.0)

        assert sorted(await asyncio.gather(*sent)) == [200, 200, 503, 503, 503, 503]


async def test_an_idle_engine_has_no_percentile_and_confirmed_zero_arrivals() -> None:
    async with emulated() as stand, watched([an_engine(stand)]) as fleet:
        load, of_class = await load_when(fleet, lambda _, c: isinstance(c.arrivals_steady, Zero))

    assert of_class.wait_p99 == of_class.latency_p99 == load.service_s == IDLE
    assert isinstance(of_class.queue, Zero)


async def test_what_a_replica_did_before_it_served_is_not_its_models_load() -> None:
    async with emulated() as stand, emulated() as other:
        spare = an_engine(stand, 2, serves=False)
        engines = [an_engine(other, 1), spare]
        async with watched(engines) as fleet:
            await asyncio.gather(*stand.begin(40))  # its warm-up, say
            await load_when(fleet, lambda _, c: c.arrivals.x is not None)
            await asyncio.sleep(0.2)

            fleet.follow([engines[0], an_engine(stand, 2)])
            await asyncio.sleep(0.3)
            _, of_class = await load_when(fleet, lambda _, c: c.arrivals.x is not None)

    assert isinstance(of_class.arrivals, Zero)


async def test_a_restarted_engine_is_a_new_one_of_which_nothing_is_known_yet() -> None:
    async with emulated() as stand:
        engine = an_engine(stand)
        async with watched([engine]) as fleet:
            await load_when(fleet, lambda _, c: c.queue.x is not None)

            fleet.follow([restarted(engine)])
            load, of_class = await load_now(fleet)

            assert of_class.queue == NOT_YET
            assert fleet.state(engine.replica) is None
            assert load.notes == ("chat-1: not asked yet",)


async def test_the_class_with_the_strictest_promise_stands_for_all_others_are_left_out() -> None:
    async with emulated() as stand, watched([an_engine(stand)]) as fleet:
        load, _ = await load_when(fleet, lambda _, c: c.queue.x is not None)

    assert list(load.classes) == ["high"]
    assert load.utilisation == NoData(Absence.NOT_EXPORTED, "engines do not know")


async def test_where_nothing_is_promised_the_middle_class_stands_for_all() -> None:
    policy = a_policy()
    silent = type(policy)(scaling=policy.scaling)
    async with emulated() as stand, watched([an_engine(stand)], silent) as fleet:
        load, _ = await load_when(fleet, lambda _, c: c.queue.x is not None)

    assert list(load.classes) == ["medium"]


async def test_what_is_in_an_engine_is_not_known_until_it_was_asked_after_it_left_service() -> None:
    async with emulated() as stand:
        engine = an_engine(stand)
        async with watched([engine], rate=1.0) as fleet:
            await state_when(fleet, lambda state: isinstance(state.in_flight, Zero))

            fleet.follow([an_engine(stand, serves=False)])
            left = fleet.state(engine.replica)

            assert left is not None
            assert left.in_flight == NOT_YET
            await state_when(fleet, lambda state: isinstance(state.in_flight, Zero))
