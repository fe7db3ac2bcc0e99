"""Arrivals against closed forms: rates, dispersion, shape, and that windows change nothing."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest

from controlplane.domain.priorities import Priority
from controlplane.simulation.arrivals import Arrivals, Bursts, Mmpp, Poisson, Process, Steps, times
from controlplane.simulation.service_times import Exponential, Fixed, ServiceTime
from controlplane.simulation.streams import Stream, StreamTraffic, generator


def arrived(process: Process, until: float, seed: int = 1) -> np.ndarray:
    blocks, last = [], 0.0
    for block in times(process, generator(seed, "test")):
        blocks.append(block)
        last = float(block[-1]) if len(block) else until
        if last >= until:
            break
    at = np.concatenate(blocks)
    return at[at < until]


def dispersion(at: np.ndarray, until: float, bin_s: float) -> float:
    """Variance over mean of the counts per bin."""
    counts = np.histogram(at, bins=round(until / bin_s), range=(0, until))[0]
    return float(counts.var() / counts.mean())


def test_poisson_arrivals_come_at_their_rate_and_their_counts_vary_as_much_as_their_mean() -> None:
    at = arrived(Poisson(rate=50), 20_000)

    assert len(at) == pytest.approx(50 * 20_000, abs=4 * sqrt(50 * 20_000))
    assert dispersion(at, 20_000, 10) == pytest.approx(1, abs=0.1)
    assert (np.diff(at) >= 0).all()


def test_gaps_of_poisson_arrivals_are_exponential() -> None:
    gaps = np.diff(arrived(Poisson(rate=20), 10_000))

    assert gaps.std() / gaps.mean() == pytest.approx(1, abs=0.02)
    assert (gaps > 0.05).mean() == pytest.approx(np.exp(-1), abs=0.01)  # P(gap > mean) = 1/e


def test_bursts_come_where_they_are_said_and_nothing_comes_between() -> None:
    bursts = Bursts(rate=800, length_s=120, starts_s=(1800.0,), every_s=3600)
    at = arrived(bursts, 7200)
    first, second = at[at < 3600], at[at >= 3600]

    assert (first.min(), second.min()) == pytest.approx((1800, 5400), abs=0.1)
    assert (first.max(), second.max()) == pytest.approx((1920, 5520), abs=0.1)
    assert len(first) == pytest.approx(96_000, abs=4 * sqrt(96_000))


def test_bursts_that_do_not_repeat_end_and_so_do_the_arrivals() -> None:
    blocks = list(times(Bursts(rate=10, length_s=5, starts_s=(1.0, 20.0)), generator(3, "x")))
    at = np.concatenate(blocks)

    assert len(at) == pytest.approx(100, abs=40)
    assert ((at >= 1) & (at < 6) | (at >= 20) & (at < 25)).all()


def test_steps_have_the_rate_of_each_step_and_repeat() -> None:
    steps = Steps(at_s=(0.0, 100.0), rates=(10.0, 30.0), every_s=200)
    at = arrived(steps, 20_000)
    phase = at % 200

    assert (phase < 100).sum() == pytest.approx(10 * 10_000, rel=0.02)
    assert (phase >= 100).sum() == pytest.approx(30 * 10_000, rel=0.02)


def test_mmpp_has_the_mean_rate_and_dispersion_of_its_closed_form() -> None:
    # Two states left at rates r1 = 1/4 and r2 = 1/2: mean = (l1/r1 + l2/r2) / (1/r1 + 1/r2), and
    # for long bins IDC = 1 + 2 (l1 - l2)^2 r1 r2 / ((r1 + r2)^2 (l1 r2 + l2 r1)).
    l1, l2, r1, r2 = 10.0, 40.0, 1 / 4, 1 / 2
    mean = (l1 * r2 + l2 * r1) / (r1 + r2)
    idc = 1 + 2 * (l1 - l2) ** 2 * r1 * r2 / ((r1 + r2) ** 2 * (l1 * r2 + l2 * r1))
    at = arrived(Mmpp(rates=(l1, l2), stay_s=(1 / r1, 1 / r2)), 200_000)

    assert mean == 20
    assert len(at) / 200_000 == pytest.approx(mean, rel=0.02)
    assert dispersion(at, 200_000, 200) == pytest.approx(idc, rel=0.15)


def traffic(window_s: float | None = None, seed: int = 5) -> StreamTraffic:
    streams = {
        "chat": Stream(
            priority=Priority.HIGH,
            arrivals=Arrivals(poisson=Poisson(rate=30)),
            service=ServiceTime(exponential=Exponential(mean_s=0.2)),
        ),
        "batch": Stream(
            priority=Priority.LOW,
            arrivals=Arrivals(mmpp=Mmpp(rates=(0.0, 90.0), stay_s=(20.0, 5.0))),
            service=ServiceTime(fixed=Fixed(mean_s=1.0)),
        ),
    }
    return StreamTraffic("m", streams, {}, seed, until=600, window_s=window_s)


@pytest.mark.parametrize("window_s", [0.5, 7.0, 60.0, 10_000.0])
def test_the_size_of_a_chunk_changes_nothing_that_arrives(window_s: float) -> None:
    whole = list(traffic().chunks())
    other = list(traffic(window_s).chunks())

    for field in ("at", "rank", "service_s"):
        one = np.concatenate([getattr(chunk, field) for chunk in whole])
        two = np.concatenate([getattr(chunk, field) for chunk in other])
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    "process",
    [
        Poisson(rate=3.0),
        Bursts(rate=50.0, length_s=5.0, starts_s=(20.0,), every_s=60.0),
        Steps(at_s=(0.0, 100.0), rates=(0.01, 4.0), every_s=500.0),
        Mmpp(rates=(0.0, 30.0), stay_s=(40.0, 5.0)),
    ],
    ids=lambda process: type(process).__name__,
)
def test_who_asks_up_to_a_moment_gets_the_same_arrivals(process: Process) -> None:
    until = 700.0

    endless = np.concatenate([next(times(process, np.random.default_rng(5)))])
    ended = np.concatenate(list(times(process, np.random.default_rng(5), until)))

    assert np.array_equal(endless[endless < until], ended[ended < until])


@pytest.mark.parametrize(
    "process",
    [
        Poisson(rate=1e-300),
        Bursts(rate=1e-300, length_s=1.0, starts_s=(0.0,), every_s=10.0),
        Steps(at_s=(0.0,), rates=(1e-300,)),
        Mmpp(rates=(0.0, 1e-300), stay_s=(10.0, 10.0)),
    ],
    ids=lambda process: type(process).__name__,
)
def test_next_to_nothing_is_not_waited_for(process: Process) -> None:
    """A day without a request is a fair question, and no reason to run for ever."""
    blocks = list(times(process, np.random.default_rng(5), 86_400.0))

    assert sum(len(block) for block in blocks) == 0


def test_a_second_call_gives_the_same_requests_and_another_seed_gives_others() -> None:
    one = traffic()
    first, again = next(one.chunks()), next(one.chunks())

    np.testing.assert_array_equal(first.at, again.at)
    assert len(first.at) != len(next(traffic(seed=6).chunks()).at)


def test_a_new_stream_changes_nothing_about_the_others() -> None:
    stream = Stream(
        priority=Priority.HIGH,
        arrivals=Arrivals(poisson=Poisson(rate=5)),
        service=ServiceTime(exponential=Exponential(mean_s=0.2)),
    )
    low = Stream(
        priority=Priority.LOW, arrivals=stream.arrivals, service=ServiceTime(fixed=Fixed(mean_s=1))
    )
    alone = list(StreamTraffic("m", {"a": stream}, {}, 1, until=100).chunks())
    beside = list(StreamTraffic("m", {"z": low, "a": stream}, {}, 1, until=100).chunks())
    high = np.concatenate([chunk.at[chunk.rank == 0] for chunk in beside])

    np.testing.assert_array_equal(np.concatenate([chunk.at for chunk in alone]), high)


@pytest.mark.parametrize(
    ("build", "rule"),
    [
        (Arrivals, "exactly one of poisson"),
        (lambda: Bursts(rate=1, length_s=60, starts_s=(0.0, 30.0)), "has not ended"),
        (lambda: Bursts(rate=1, length_s=60, starts_s=(0.0,), every_s=50), "has not ended"),
        (lambda: Steps(at_s=(0.0, 10.0), rates=(1.0,)), "2 times but 1 rates"),
        (lambda: Steps(at_s=(5.0,), rates=(1.0,)), "must begin at 0"),
        (lambda: Mmpp(rates=(0.0, 0.0), stay_s=(1.0, 1.0)), "must not all be 0"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_rule(
    build: Callable[[], object], rule: str
) -> None:
    with pytest.raises(ValueError, match=rule):
        build()
