from itertools import product

import numpy as np
import pytest

from controlplane.queueing.bound import least_replica_time
from controlplane.queueing.fluid import Array, EarliestWork, allowed_backlog, late_work
from controlplane.queueing.milp import solve
from controlplane.queueing.schedule import FleetRange, Search
from controlplane.queueing.service_fit import Pareto

CHAT = FleetRange(min=4, max=12, start=4, slots=14, load_s=100.0)
LIMITS = (0.1, 0.8, 10.0)
BURST_S = 120
SERVICE = Pareto.of_mean(0.125, 2.2, clip=15.0)


def bursts(hours: int) -> list[int]:
    return [1800, 5400] if hours == 2 else [1800 + 3600 * hour for hour in range(hours)]


def expected_chat(hours: int) -> Array:
    """High 200/s, medium 150/s, low 800/s for two minutes at each burst; 0.125 s each."""
    work = np.zeros((3, hours * 720))
    work[0], work[1] = 200 * 5 * 0.125, 150 * 5 * 0.125
    for begin in bursts(hours):
        work[2, begin // 5 : (begin + BURST_S) // 5] = 800 * 5 * 0.125
    return work


def drawn_chat(hours: int, seed: int) -> Array:
    """The same as requests: Poisson arrivals, Pareto service; whole work in the step it arrives."""
    rng = np.random.default_rng(seed)
    rates = np.zeros((3, hours * 720))
    rates[0], rates[1] = 200.0, 150.0
    for begin in bursts(hours):
        rates[2, begin // 5 : (begin + BURST_S) // 5] = 800.0
    counts = rng.poisson(rates * 5.0)
    served = SERVICE.smallest * (1.0 - rng.random(counts.sum())) ** (-1.0 / SERVICE.shape)
    step = np.repeat(np.arange(counts.size), counts.ravel())
    work = np.bincount(step, np.minimum(served, 15.0), counts.size)
    return np.asarray(work.reshape(counts.shape), dtype=np.float64)


def test_two_hours_of_the_chat_scenario_cost_at_least_8_75_gpu_hours() -> None:
    for work in (expected_chat(2), drawn_chat(2, seed=1)):
        bound = least_replica_time(work, LIMITS, CHAT)

        assert bound.exact
        assert bound.unserved == 0.0
        assert bound.device_hours() == pytest.approx(8.75, abs=0.005)


def test_a_day_of_the_chat_scenario_costs_at_least_104_96_gpu_hours() -> None:
    """24 bursts of 1,345 replica seconds on top of the smallest fleet, and nothing else."""
    bound = least_replica_time(expected_chat(24), LIMITS, CHAT)

    assert bound.exact
    assert bound.device_hours() == pytest.approx(104.96, abs=0.01)
    assert bound.replica_s == 4 * 86_400 + 24 * 1_345


def test_the_burst_s_bill_is_that_of_the_integer_programme_over_all_of_it() -> None:
    work = expected_chat(2)[:, 330:460]
    solved = solve(CHAT, work, allowed_backlog(work, LIMITS, 5.0))
    assert solved is not None

    assert solved.exact
    assert solved.cost_s == pytest.approx(4 * 130 * 5 + 1_345)


def least_by_trying(fleet: FleetRange, work: Array, allowed: Array) -> float | None:
    """Try every schedule there is."""
    costs = []
    for sizes in product(range(fleet.min, fleet.max + 1), repeat=work.shape[1]):
        capacity = np.array(sizes) * fleet.per_replica
        if late_work(work, allowed, capacity).any():
            continue
        before = (fleet.start, *sizes)
        starts = sum(max(0, now - was) for was, now in zip(before, sizes, strict=False))
        costs.append(sum(sizes) * fleet.step_s + starts * fleet.load_s)
    return min(costs, default=None)


@pytest.mark.parametrize("seed", range(25))
def test_no_schedule_one_could_try_is_cheaper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    work = rng.gamma(0.7, 12.0, (1, 6))
    fleet = FleetRange(
        min=1, max=4, start=int(rng.integers(1, 5)), slots=2, load_s=float(rng.choice([0, 5, 12]))
    )
    allowed = allowed_backlog(work, [float(rng.choice([0.5, 5.0, 12.0]))], 5.0)
    tried = least_by_trying(fleet, work, allowed)
    search = Search(fleet, work[0], allowed[0], np.full(6, float(fleet.min)))

    if tried is None:
        with pytest.raises(ValueError, match="more than max"):
            search.cost_s()
        return
    assert search.cost_s() == tried
    cost, sizes = search.replicas()
    assert cost == tried
    assert not late_work(work, allowed, np.array(sizes) * fleet.per_replica).any()


@pytest.mark.parametrize("seed", range(12))
def test_classes_that_compete_cost_what_the_integer_programme_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fleet = FleetRange(min=1, max=8, start=2, slots=4, load_s=20.0)
    work = rng.gamma(0.5, 20.0, (3, 40))
    limits = (0.5, 3.0, 15.0)
    allowed = allowed_backlog(work, limits, 5.0)
    bound = least_replica_time(work, limits, fleet)
    solved = solve(fleet, work, allowed)

    if bound.unserved:
        assert solved is None
        return
    assert solved is not None
    assert bound.exact
    assert bound.replica_s == pytest.approx(solved.cost_s)


def test_a_long_schedule_is_found_again_from_the_fronts_that_were_kept() -> None:
    rng = np.random.default_rng(3)
    work = rng.gamma(2.0, 15.0, (1, 150))
    fleet = FleetRange(min=1, max=9, start=1, slots=4, load_s=30.0)
    allowed = allowed_backlog(work, [10.0], 5.0)
    search = Search(fleet, work[0], allowed[0], np.ones(150))

    assert search.replicas(kept_whole=10) == search.replicas()


def test_a_request_never_asks_for_more_than_one_slot() -> None:
    """One request of 20 s, one slot a replica: counted whole on arrival it would need four."""
    counted = EarliestWork(classes=1, steps=6, step_s=5.0)
    counted.add(np.array([0]), np.array([0.0]), np.array([20.0]))
    work = counted.work
    fleet = FleetRange(min=1, max=4, start=1, slots=1, load_s=10.0)

    assert work.tolist() == [[5.0, 5.0, 5.0, 5.0, 0.0, 0.0]]
    assert least_replica_time(work, [0.1], fleet).replica_s == 30.0


def test_earliest_work_is_every_request_s_time_on_its_slot() -> None:
    rng = np.random.default_rng(1)
    rank, at = rng.integers(0, 2, 300), np.sort(rng.uniform(0, 100, 300))
    service = rng.exponential(8.0, 300)
    counted = EarliestWork(classes=2, steps=20, step_s=5.0)
    for part in (slice(0, 100), slice(100, 300)):
        counted.add(rank[part], at[part], service[part])
    truth = np.zeros((2, 20))
    for one, begin, end in zip(rank, at, at + service, strict=True):
        for step in range(20):
            truth[one, step] += max(0.0, min(end, 5.0 * step + 5.0) - max(begin, 5.0 * step))

    assert counted.work == pytest.approx(truth, abs=1e-9)


def test_what_the_largest_fleet_cannot_serve_is_reported_and_the_rest_is_bounded() -> None:
    fleet = FleetRange(min=1, max=2, start=1, slots=1, load_s=0.0)
    work = np.array([[0.0, 30.0, 0.0, 0.0]])
    bound = least_replica_time(work, [5.0], fleet)

    # two slots serve 10 in the step it arrives and 10 in the next; 10 are late
    assert bound.unserved == pytest.approx(10.0)
    assert bound.replica_s == 4 * 5 + 2 * 5


def test_a_quiet_day_costs_the_smallest_fleet() -> None:
    fleet = FleetRange(min=3, max=9, start=9, slots=1, load_s=60.0)

    assert least_replica_time(np.zeros((3, 100)), LIMITS, fleet).replica_s == 3 * 500
    assert least_replica_time(np.zeros((0, 100)), (), fleet).replica_s == 3 * 500


def test_replicas_that_are_there_at_the_start_need_no_start() -> None:
    work = np.array([[30.0, 0.0, 0.0, 0.0]])
    cold = FleetRange(min=1, max=6, start=1, slots=1, load_s=100.0)
    there = FleetRange(min=1, max=6, start=6, slots=1, load_s=100.0)

    assert least_replica_time(work, [0.1], cold).replica_s == (6 + 3) * 5 + 5 * 100
    assert least_replica_time(work, [0.1], there).replica_s == (6 + 3) * 5


def test_a_load_time_between_the_units_is_rounded_down_so_that_the_bound_stays_one() -> None:
    work = np.array([[0.0, 10.0]])
    fleet = FleetRange(min=1, max=2, start=1, slots=1, load_s=92.37)

    assert least_replica_time(work, [0.1], fleet).replica_s == pytest.approx(15 + 92.0)


def test_a_stretch_too_long_for_the_solver_is_bounded_and_says_it_is_not_proven() -> None:
    """Nineteen times the forty steps whose classes compete, without a quiet moment between."""
    fleet = FleetRange(min=1, max=8, start=2, slots=4, load_s=20.0)
    limits = (0.5, 3.0, 15.0)
    once = np.random.default_rng(0).gamma(0.5, 20.0, (3, 40))
    long = least_replica_time(np.tile(once, (1, 19)), limits, fleet)
    first = least_replica_time(once, limits, fleet)

    assert first.exact
    assert not long.exact
    # starting each of the nineteen anew, from the smallest fleet, is one way to serve it all
    assert long.replica_s <= 19 * (first.replica_s + fleet.load_s)
