from math import inf
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.queueing import erlang, mgk
from controlplane.queueing.percentiles import quantile
from controlplane.queueing.service_fit import Lognormal, Pareto
from tests.queueing.waiting_room import waits_first_come

CHAT = Pareto.of_mean(0.125, 2.2, clip=15.0)


def test_exponential_service_is_m_m_k() -> None:
    assert mgk.mean_wait(28.0, 0.125, 4, scv=1.0) == pytest.approx(erlang.mean_wait(28.0, 0.125, 4))
    assert mgk.wait_quantile(28.0, 0.125, 4, 1.0) == pytest.approx(
        erlang.wait_quantile(28.0, 0.125, 4, 0.99)
    )


def test_one_slot_is_pollaczek_and_khinchine_s_formula_exactly() -> None:
    arrivals, service, scv = 6.0, 0.125, 4.0

    truth = 0.75 * service * (1 + scv) / 2 / (1 - 0.75)
    assert mgk.mean_wait(arrivals, service, 1, scv) == pytest.approx(truth)


def test_regular_arrivals_and_service_wait_half_as_long() -> None:
    irregular = mgk.mean_wait(28.0, 0.125, 4, scv=1.0)

    assert mgk.mean_wait(28.0, 0.125, 4, scv=1.0, arrival_scv=0.0) == pytest.approx(irregular / 2)


@pytest.mark.parametrize(("slots", "per_slot"), [(4, 0.85), (14, 0.85), (14, 0.95)])
def test_uneven_service_waits_as_simulated_or_somewhat_less(slots: int, per_slot: float) -> None:
    """Known of the formula: with scv > 1 it errs to the safe side as the slots get more."""
    family = Lognormal.fitting(0.125, 2.0)
    arrivals = slots * per_slot / 0.125
    simulated = waits_first_come(
        arrivals, lambda rng: rng.lognormvariate(family.mu, family.sigma), slots, 200_000, seed=1
    )
    p99 = quantile(simulated, 0.99)
    assert p99 is not None

    assert 0.95 < mgk.mean_wait(arrivals, 0.125, slots, 2.0) / fmean(simulated) < 1.4
    assert 0.95 < mgk.wait_quantile(arrivals, 0.125, slots, 2.0) / p99 < 1.4


def test_even_service_waits_as_simulated_within_a_tenth() -> None:
    family = Lognormal.fitting(0.125, 0.25)
    simulated = waits_first_come(
        27.2, lambda rng: rng.lognormvariate(family.mu, family.sigma), 4, 200_000, seed=2
    )

    assert mgk.mean_wait(27.2, 0.125, 4, 0.25) == pytest.approx(fmean(simulated), rel=0.1)
    assert mgk.wait_quantile(27.2, 0.125, 4, 0.25) == pytest.approx(
        quantile(simulated, 0.99), rel=0.1
    )


@pytest.mark.parametrize(
    ("arrivals", "scv", "limit", "ceiling", "replicas"),
    [
        (0.0, 1.0, 0.1, 0.85, 0),
        (350.0, CHAT.scv, None, 0.85, 4),  # 43.75 of 56 slots: the ceiling alone
        (350.0, CHAT.scv, 0.1, 1.0, 4),
        (1150.0, CHAT.scv, None, 1.0, 11),  # 143.75 / 14 = 10.27
    ],
)
def test_replicas_for_gives_the_fewest(
    arrivals: float, scv: float, limit: float | None, ceiling: float, replicas: int
) -> None:
    assert mgk.replicas_for(arrivals, 0.125, scv, 14, limit, ceiling) == replicas


@given(
    arrivals=st.floats(0.01, 5000),
    service=st.floats(0.005, 20),
    scv=st.floats(0, 20),
    slots=st.integers(1, 64),
    limit=st.floats(0.001, 30),
    ceiling=st.floats(0.3, 1.0),
)
def test_one_replica_fewer_would_break_the_ceiling_or_the_limit(
    arrivals: float, service: float, scv: float, slots: int, limit: float, ceiling: float
) -> None:
    few = mgk.replicas_for(arrivals, service, scv, slots, limit, ceiling)

    def holds(replicas: int) -> bool:
        within = arrivals * service <= replicas * slots * ceiling * (1 + 1e-9)
        return within and mgk.wait_quantile(arrivals, service, replicas * slots, scv) <= limit

    assert holds(few)
    assert few == 1 or not holds(few - 1)


def test_overload_waits_for_ever_and_idleness_never() -> None:
    assert mgk.mean_wait(40.0, 0.125, 4, 1.0) == mgk.wait_quantile(40.0, 0.125, 4, 1.0) == inf
    assert mgk.mean_wait(0.0, 0.125, 0, 1.0) == mgk.wait_quantile(0.0, 0.125, 0, 1.0) == 0.0
