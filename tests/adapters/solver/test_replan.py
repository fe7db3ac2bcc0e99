"""The solver's plans, carried out, against known optima, brute force and their own bound."""

from collections.abc import Sequence
from functools import cache
from subprocess import run
from sys import executable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.adapters.solver.arcflow import MAX_ARCS, network
from controlplane.adapters.solver.replan import replan
from controlplane.decide.placement.choose import Method, choose
from controlplane.decide.placement.instance import Instance, Pod
from controlplane.decide.placement.packing import pack
from controlplane.decide.placement.plan import Plan, follow
from tests.adapters.solver.instances import named
from tests.decide.placement.fleets import instance, machine, pods


@pytest.mark.parametrize(
    ("name", "unplaced"), [("S55", 19), ("S85", 55), ("M55", 47), ("M85", 231)]
)
def test_whole_devices_reach_the_optimum_and_the_bound_proves_it(name: str, unplaced: int) -> None:
    problem = named(name, whole_devices=True)
    plan = replan(problem)
    chosen = choose(problem, plan)
    assert len(chosen.packing.unplaced) == unplaced
    assert chosen.packing.unplaced_mib == chosen.bound_mib
    assert plan.proven


def test_m85_is_placed_whole_by_the_solver_only() -> None:
    problem = named("M85")
    assert len(pack(problem).unplaced) <= 6
    chosen = choose(problem, replan(problem))
    assert (chosen.method, chosen.packing.unplaced) == (Method.SOLVER, ())


def test_m55_strands_less_than_a_quarter_of_what_best_fit_strands() -> None:
    problem = named("M55")
    plain, planned = pack(problem), choose(problem, replan(problem)).packing
    assert plain.stranded_mib <= 1124 * 1024
    assert planned.stranded_mib <= 152 * 1024
    assert planned.devices_used == 128


def test_l85_leaves_no_multi_device_model_out_with_or_without_the_solver() -> None:
    problem = named("L85")
    for packing in (pack(problem), choose(problem, replan(problem)).packing):
        assert not packing.unplaced


def test_the_same_instance_gives_the_same_plan() -> None:
    assert replan(named("S85")) == replan(named("S85"))


def test_nothing_to_place_and_nowhere_to_go_are_planned_too() -> None:
    assert replan(instance((machine("n", 1, 9),), ())).patterns == ()
    nowhere = replan(instance((), pods(2, 5)))
    assert (nowhere.patterns, nowhere.bound_mib) == ((), 10)
    alien = replan(instance((machine("n", 1, 9),), pods(2, 5, runtimes="cann")))
    assert alien.bound_mib == 10


def test_odd_sizes_are_rounded_up_until_the_network_is_small_and_the_plan_stays_valid() -> None:
    odd = tuple(pod for i in range(120) for pod in pods(1, 1009 + 37 * i))
    problem = instance(tuple(machine(f"n{i}", 8, 73_125) for i in range(2)), odd)
    net = network(problem)
    assert not net.exact
    assert sum(len(graph.arcs) for graph in net.graphs) <= MAX_ARCS
    packing = follow(problem, replan(problem, node_limit=1))
    assert sum(len(pod) for pod in (packing.seats, packing.unplaced)) == len(odd)


def test_devices_of_two_machines_are_not_one_site() -> None:
    machines = (machine("a", 3, 10), machine("b", 3, 10))
    chosen = choose(*_planned(instance(machines, pods(3, 10, devices=2))))
    assert len(chosen.packing.unplaced) == 1
    assert chosen.bound_mib == 20  # the solver knows: one pair of devices a machine


def test_the_solver_says_nothing_to_whoever_reads_our_output() -> None:
    script = (
        "from tests.adapters.solver.instances import named;"
        "from controlplane.adapters.solver.replan import replan; replan(named('S55'))"
    )
    done = run([executable, "-c", script], capture_output=True, check=True, timeout=60)
    assert done.stdout + done.stderr == b""


def _planned(problem: Instance) -> tuple[Instance, Plan]:
    return problem, replan(problem)


def least_left_out(problem: Instance) -> tuple[int, int, int]:
    """Try everything: the least memory left out, then pods, then devices in use."""
    machines = [(m.usable_mib, m.devices, m.runtime) for m in problem.machines]

    @cache
    def search(index: int, rooms: tuple[tuple[int, ...], ...]) -> tuple[int, int, int]:
        if index == len(problem.pods):
            used = sum(
                room != usable
                for (usable, _, _), of in zip(machines, rooms, strict=True)
                for room in of
            )
            return (0, 0, used)
        pod = problem.pods[index]
        out = search(index + 1, rooms)
        best = (out[0] + pod.devices * pod.need_mib, out[1] + 1, out[2])
        for at, seated in _seatings(pod, machines, rooms, whole=problem.whole_devices):
            tried = (*rooms[:at], tuple(sorted(seated)), *rooms[at + 1 :])
            best = min(best, search(index + 1, tried))
        return best

    return search(0, tuple((usable,) * devices for usable, devices, _ in machines))


def _seatings(
    pod: Pod,
    machines: Sequence[tuple[int, int, str]],
    rooms: tuple[tuple[int, ...], ...],
    *,
    whole: bool,
) -> list[tuple[int, list[int]]]:
    found = []
    for at, (_, _, runtime) in enumerate(machines):
        fits = [i for i, room in enumerate(rooms[at]) if room >= pod.need_mib]
        if runtime not in pod.runtimes or len(fits) < pod.devices:
            continue
        for first in range(len(fits) - pod.devices + 1):
            seated = list(rooms[at])
            for i in fits[first : first + pod.devices]:
                seated[i] = 0 if whole else seated[i] - pod.need_mib
            found.append((at, seated))
    return found


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.just(10), st.sampled_from(["cuda", "cann"])), max_size=2
    ),
    st.lists(
        st.tuples(
            st.integers(1, 2),
            st.integers(1, 11),
            st.just(1),
            st.sampled_from(["cuda", "cuda|cann"]),
        ),
        max_size=4,
        unique_by=lambda row: row[1:],
    ),
    st.booleans(),
)
def test_single_device_pods_are_packed_as_well_as_trying_everything_does(
    fleet: list[tuple[int, int, str]], demand: list[tuple[int, int, int, str]], whole: bool
) -> None:
    machines = tuple(machine(f"n{i}", *row) for i, row in enumerate(fleet))
    wanted = tuple(pod for row in demand for pod in pods(*row))
    problem = instance(machines, wanted, whole_devices=whole)
    plan = replan(problem)
    chosen = choose(problem, plan)
    best = least_left_out(problem)
    assert chosen.packing.score[:3] == best
    assert chosen.bound_mib <= best[0]
