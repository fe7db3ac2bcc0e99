"""What is reckoned from outcomes: exact percentiles, idle slots, and only what can be known."""

import pytest

from controlplane.domain.priorities import Priority
from controlplane.emulation.load.comparing import compared
from controlplane.emulation.load.figures import by_class, figures, lag_p99
from controlplane.emulation.load.idleness import busy_ratio, idleness
from controlplane.emulation.load.outcomes import Ending, Outcome
from controlplane.emulation.load.report import Judge, run_report
from controlplane.emulation.load.wishes import Wish, wishes

TOKEN_S = 0.1


def outcome(
    at: float, end: float, ending: Ending = Ending.SERVED, *, rank: int = 0, tokens: int = 1,
    reason: str = "",
) -> Outcome:  # fmt: skip
    return Outcome(Wish(at, rank, tokens, streams=False), at, end, ending, reason)


def test_percentiles_are_of_every_single_request() -> None:
    found = figures([outcome(0, n / 100) for n in range(1, 101)], None, None)

    assert (found["latency_p50_s"], found["latency_p99_s"], found["latency_max_s"]) == (
        0.5,
        0.99,
        1,
    )


def test_a_wait_is_what_was_not_spent_on_the_answer() -> None:
    found = figures([outcome(1.0, 1.75, tokens=5)], TOKEN_S, 0.2)

    assert found["wait_max_s"] == pytest.approx(0.25)
    assert found["in_time_ratio"] == 0


def test_without_knowing_how_long_an_answer_takes_no_wait_is_known() -> None:
    found = by_class([outcome(0, 1)], None, {Priority.HIGH: 0.1})["high"]

    assert found["wait_p99_s"] is None
    assert found["in_time_ratio"] is None


def test_the_refused_are_late_and_whoever_may_still_be_in_time_is_not_judged() -> None:
    ended = [
        outcome(0, 0.1),
        outcome(0, 0.01, Ending.REFUSED, reason="queue-full"),
        outcome(0, 0.15, Ending.UNFINISHED),
        outcome(0, 9.0, Ending.UNFINISHED),
    ]
    found = figures(ended, TOKEN_S, 1.0)

    assert found["refused"] == {"queue-full": 1}
    assert found["in_time_ratio"] == pytest.approx(1 / 3, abs=1e-6)


def test_of_who_may_not_have_waited_at_all_no_wait_is_known() -> None:
    running = outcome(0, 0.5, Ending.UNFINISHED, tokens=10)
    waiting = outcome(0, 3.0, Ending.UNFINISHED, tokens=10)

    assert figures([running], TOKEN_S, 1.0)["wait_max_s"] is None
    assert figures([running, waiting], TOKEN_S, 1.0)["wait_p50_s"] == 2.0


def test_lateness_of_this_machine_is_in_the_latency_and_told() -> None:
    late = Outcome(Wish(1.0, 0, 1, streams=False), 1.5, 1.7, Ending.SERVED)

    assert late.latency == pytest.approx(0.7)
    assert lag_p99([late]) == 0.5


def test_a_refusal_knows_how_many_slots_were_idle() -> None:
    """Two slots: both busy from 1 to 2, one from 2 to 3, none afterwards."""
    ended = [
        outcome(1, 2, tokens=10),
        outcome(1, 3, tokens=20),
        *(outcome(at, at, Ending.REFUSED) for at in (1.5, 2.5, 3.5)),
    ]
    found = idleness(ended, TOKEN_S, 2)

    assert found is not None
    assert (found.refusals, found.while_idle, found.mean_idle) == (3, 2, 1.0)
    assert busy_ratio(ended, TOKEN_S, 2, 4.0) == pytest.approx(3 / 8)
    assert busy_ratio(ended, TOKEN_S, 2, 2.0) == pytest.approx(2 / 4)
    assert idleness(ended[:2], TOKEN_S, 2) is None


def test_an_answer_has_a_token_at_least() -> None:
    one, two = wishes([(0, 0, 0.01), (1, 2, 0.52)], TOKEN_S, [True, False, False])

    assert (one.tokens, one.streams) == (1, True)
    assert (two.tokens, two.streams) == (5, False)


def a_run(wait_s: float, *refused: float) -> dict[str, object]:
    served = [outcome(n, n + TOKEN_S + wait_s) for n in range(10)]
    turned = [outcome(at, at, Ending.REFUSED, reason="no-token") for at in refused]
    judge = Judge(limits={}, seconds=10, token_s=TOKEN_S, slots=2)
    return run_report([*served, *turned], judge)


def test_the_comparison_speaks_of_what_was_run_and_with_its_figures() -> None:
    runs = {"fifo": a_run(2.0), "priority": a_run(0.02), "bucket": a_run(0.3, 5.5, 6.5)}
    one_queue, tokens, classes = compared(runs)

    assert "up to 2.00 s" in one_queue
    assert "20 ms, 100 times less" in one_queue
    assert "2 refusals 2 (100 %)" in tokens
    assert "refused 2 of 12 high requests" in classes
    assert "up to 300 ms" in classes
    assert compared({"gateway": a_run(0.1)}) == []
