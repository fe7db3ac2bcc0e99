"""The report's arithmetic, on tallies written by hand."""

import numpy as np
import pytest

from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import ModelName
from controlplane.domain.reasons import ReasonCode
from controlplane.simulation.report import Course, Ran, direction_changes, report
from controlplane.simulation.traffic import Chunk
from controlplane.simulation.work import MeteredTraffic
from controlplane.simulation.world import ClassTally, Tally

A, B = ModelName("a"), ModelName("b")


def a_tally(
    waits: list[float],
    rejected: int = 0,
    in_time: int = 0,
    breach: tuple[float, float] | None = None,
) -> Tally:
    high = ClassTally(
        arrived=len(waits) + rejected,
        served=len(waits),
        in_time=in_time,
        rejected={ReasonCode.QUEUE_FULL: rejected} if rejected else {},
    )
    high.wait.add(np.array(waits))
    high.latency.add(np.array(waits) + 1.0)
    return Tally(
        classes={p: high if p is Priority.HIGH else ClassTally() for p in PRIORITIES},
        busy_slot_s=900.0,
        billed_slot_s=1200.0,
        device_s=7200.0,
        max_serving=3,
        first_breach_at=breach[0] if breach else None,
        first_added_serving_at=breach[1] if breach else None,
    )


def a_run(tallies: dict[ModelName, Tally], bounds: dict[ModelName, float | None]) -> Ran:
    course = Course()
    course.moves = {A: [4, 9, 4]}
    course.most_serving = 7
    return Ran(
        scenario="s", policy="p", seed=3, tallies=tallies, bounds=bounds, course=course, wall_s=2.0
    )


def test_a_run_of_one_model_says_everything_the_contract_names() -> None:
    worded = report(a_run({A: a_tally([0.0, 0.0, 0.5, 2.0], 4, 3, (100.0, 110.5))}, {A: 1.5}))
    high = worded["classes"]["high"]

    assert (worded["scenario"], worded["policy"], worded["seed"]) == ("s", "p", 3)
    assert (worded["gpu_hours"], worded["bound_gpu_hours"]) == (2.0, 1.5)
    assert worded["idle_ratio"] == 0.25  # 1 - 900 / 1200
    assert (worded["direction_changes"], worded["max_replicas"]) == (1, 3)
    assert worded["reaction_s"] == 10.5
    assert worded["requests_per_s"] == 4  # 8 arrivals in 2 s of wall time
    assert (high["arrived"], high["served"], high["rejected"]) == (8, 4, 4)
    assert high["in_time_ratio"] == 3 / 8  # the rejected broke their limit
    assert high["wait_p50_s"] == 0
    assert high["wait_p99_s"] == pytest.approx(2, rel=0.01)
    assert high["wait_max_s"] == 2
    assert high["latency_p50_s"] == pytest.approx(1, rel=0.01)
    assert "models" not in worded


def test_a_class_nobody_asked_for_has_no_percentiles_and_no_share() -> None:
    low = report(a_run({A: a_tally([0.1])}, {A: None}))["classes"]["low"]

    assert low["arrived"] == 0
    assert [low[key] for key in ("wait_p99_s", "wait_max_s", "latency_p99_s", "in_time_ratio")] == [
        None,
        None,
        None,
        None,
    ]


def test_several_models_are_told_in_total_and_one_by_one() -> None:
    tallies = {
        A: a_tally([0.0] * 6, breach=(10.0, 20.0)),
        B: a_tally([4.0] * 2, breach=(5.0, 45.0)),
    }
    worded = report(a_run(tallies, {A: 1.0, B: 0.5}))

    assert (worded["gpu_hours"], worded["bound_gpu_hours"]) == (4.0, 1.5)
    assert worded["classes"]["high"]["arrived"] == 8
    assert worded["classes"]["high"]["wait_p99_s"] == pytest.approx(4, rel=0.01)
    assert worded["max_replicas"] == 7  # at once, as it was seen: not 3 + 3
    assert worded["reaction_s"] == 40  # the slower one
    assert worded["models"]["a"]["direction_changes"] == 1
    assert worded["models"]["b"]["classes"]["high"]["wait_p50_s"] == pytest.approx(4, rel=0.01)


def test_one_unknown_bound_makes_the_total_unknown() -> None:
    worded = report(a_run({A: a_tally([0.1]), B: a_tally([0.1])}, {A: 1.0, B: None}))

    assert worded["bound_gpu_hours"] is None


@pytest.mark.parametrize(
    ("targets", "turns"),
    [
        ([4], 0),
        ([4, 6, 9], 0),
        ([4, 9, 4], 1),
        ([4, 9, 4, 9, 4], 3),
        ([4, 6, 8, 7, 5, 6], 2),
        ([], 0),
    ],
)
def test_direction_changes_are_turns_of_the_target(targets: list[int], turns: int) -> None:
    assert direction_changes(targets) == turns


class Told:
    """Traffic written by hand."""

    def chunks(self):  # type: ignore[no-untyped-def]  # a test's two lines
        yield Chunk(np.array([0.0, 4.9, 5.0]), np.array([0, 0, 2], np.int8), np.array([1.0, 2, 3]))
        yield Chunk(np.array([12.0]), np.array([1], np.int8), np.array([0.5]))


def test_work_is_metered_by_class_and_5_s_step_and_requests_pass_unchanged() -> None:
    metered = MeteredTraffic(Told(), duration_s=14)
    passed = list(metered.chunks())

    assert sum(len(chunk.at) for chunk in passed) == 4
    # each on one slot from its arrival on: the one of 4.9 s is busy for 0.1 s, then for 1.9 s
    expected = np.array([[1.1, 1.9, 0], [0, 0, 0.5], [0, 3, 0]])
    np.testing.assert_allclose(metered.work, expected)


def test_metering_a_second_pass_counts_it_once() -> None:
    metered = MeteredTraffic(Told(), duration_s=14)
    list(metered.chunks())
    list(metered.chunks())

    assert metered.work.sum() == pytest.approx(6.5)
