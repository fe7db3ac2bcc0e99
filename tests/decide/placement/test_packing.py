"""Best fit, the bound and plans, against figures worked out by hand and against each other."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.placement.bound import bound_unplaced_mib
from controlplane.decide.placement.choose import Method, choose
from controlplane.decide.placement.instance import Group, Instance, Shape
from controlplane.decide.placement.packing import Packing, pack
from controlplane.decide.placement.plan import Pattern, Plan, follow
from controlplane.decide.placement.shelf import Shelf
from controlplane.domain.quantities import NodeName
from tests.decide.placement.fleets import instance, machine, pods


def check(problem: Instance, packing: Packing) -> None:
    """A packing is honest: everybody once, one node each, nothing overfilled, figures right."""
    by_name = {pod.name: pod for pod in problem.pods}
    machines = {m.name: m for m in problem.machines}
    placed = [seat.pod for seat in packing.seats]
    assert sorted(placed + [pod.name for pod in packing.unplaced]) == sorted(by_name)
    held: Counter[tuple[NodeName, int]] = Counter()
    sharing: Counter[tuple[NodeName, int]] = Counter()
    for seat in packing.seats:
        pod, at = by_name[seat.pod], machines[seat.node]
        assert len(set(seat.devices)) == len(seat.devices) == pod.devices
        assert at.runtime in pod.runtimes
        for device in seat.devices:
            assert 0 <= device < at.devices
            held[at.name, device] += pod.need_mib
            sharing[at.name, device] += 1
    assert all(mib <= machines[name].usable_mib for (name, _), mib in held.items())
    assert not problem.whole_devices or all(count == 1 for count in sharing.values())
    assert packing.devices_used == len(held)
    assert packing.unplaced_mib == sum(p.devices * p.need_mib for p in packing.unplaced)
    in_use = sum(machines[name].usable_mib for name, _ in held)
    assert packing.stranded_mib == in_use - sum(held.values())


def test_small_pods_share_devices_unless_they_may_not() -> None:
    shared = instance((machine("n", 2, 100),), pods(4, 50))
    assert pack(shared).score == (0, 0, 2, 0)
    whole = instance((machine("n", 2, 100),), pods(4, 50), whole_devices=True)
    assert pack(whole).score == (100, 2, 2, 100)


def test_big_pods_go_before_small_ones_so_that_they_do_not_starve() -> None:
    problem = instance((machine("n", 1, 100),), pods(9, 20) + pods(1, 90))
    packing = pack(problem)
    assert [seat.pod for seat in packing.seats] == ["1x90-cuda-0"]


def test_whole_nodes_are_kept_for_multi_device_pods() -> None:
    machines = (machine("a", 4, 100), machine("b", 4, 100))
    problem = instance(machines, pods(4, 100) + pods(1, 100, devices=4))
    packing = pack(problem)
    assert not packing.unplaced
    check(problem, packing)


def test_a_multi_device_pod_never_spans_two_nodes() -> None:
    machines = (machine("a", 2, 100), machine("b", 2, 100))
    assert pack(instance(machines, pods(1, 10, devices=3))).score == (30, 1, 0, 0)


def test_who_can_choose_leaves_the_sought_after_class_to_who_cannot() -> None:
    machines = (machine("a", 1, 100, "cuda"), machine("b", 1, 100, "cann"))
    picky, easy = pods(1, 90), pods(1, 95, runtimes="cuda|cann")
    assert not pack(instance(machines, easy + picky)).unplaced


def test_an_empty_fleet_and_an_empty_list_of_pods_are_no_accident() -> None:
    assert pack(instance((), pods(2, 5))).score == (10, 2, 0, 0)
    assert bound_unplaced_mib(instance((), pods(2, 5))) == 10
    assert pack(instance((machine("n", 2, 5),), ())).score == (0, 0, 0, 0)
    assert bound_unplaced_mib(instance((machine("n", 2, 5),), ())) == 0


def test_the_bound_sees_that_one_class_cannot_help_another() -> None:
    machines = (machine("a", 1, 100, "cuda"), machine("b", 9, 100, "cann"))
    problem = instance(machines, pods(3, 60) + pods(2, 50, runtimes="cuda|cann"))
    assert bound_unplaced_mib(problem) == 80  # 180 must go to 100; the other two go to cann


def test_a_shelf_refuses_what_does_not_fit() -> None:
    shelf = Shelf(Group("c", 10, "cuda"), (machine("n", 1, 10),), whole_devices=False)  # type: ignore[arg-type]  # a literal
    shelf.take(0, 6)
    with pytest.raises(ValueError, match="4 MiB left, 5 do not fit"):
        shelf.take(0, 5)
    assert shelf.tightest(4) == 0
    assert shelf.tightest(5) is None


# Biggest first gives 40 + 40 | 30 + 30 + 30 and leaves one out; 40 + 30 + 30 twice does not.
STUMBLES = instance((machine("n", 2, 100),), pods(2, 40) + pods(4, 30))
GROUP = next(iter(STUMBLES.fleet))
BY_HAND = Plan(
    patterns=(
        Pattern(
            group=GROUP,
            devices=2,
            holds=((Shape(1, 40, ("cuda",)), 1), (Shape(1, 30, ("cuda",)), 2)),
        ),
    ),
    unit_mib=10,
    bound_mib=0,
    proven=True,
)


def test_a_better_plan_is_taken_and_named() -> None:
    assert pack(STUMBLES).score == (30, 1, 2, 30)
    chosen = choose(STUMBLES, BY_HAND)
    assert chosen.method is Method.SOLVER
    assert chosen.packing.score == (0, 0, 2, 0)
    check(STUMBLES, chosen.packing)


def test_a_plan_that_is_no_better_is_left_alone() -> None:
    easy = instance((machine("n", 2, 100),), pods(1, 50))
    plan = Plan(patterns=(), unit_mib=50, bound_mib=0, proven=True)
    assert choose(easy, plan).method is Method.BEST_FIT
    assert choose(easy).method is Method.BEST_FIT


def test_a_plan_for_another_fleet_wastes_but_never_overfills() -> None:
    holds = ((Shape(2, 80, ("cuda",)), 3), (Shape(1, 40, ("cuda",)), 9))
    wrong = Plan(
        patterns=(Pattern(group=GROUP, devices=99, holds=holds),),
        unit_mib=10,
        bound_mib=0,
        proven=False,
    )
    problem = instance(STUMBLES.machines, STUMBLES.pods + pods(1, 80, devices=2))
    check(problem, follow(problem, wrong))


RUNTIMES = ("cuda", "cann", "cuda|cann")
FLEETS = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from([60, 100]), st.sampled_from(RUNTIMES[:2])),
    max_size=4,
)
DEMANDS = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 110), st.integers(1, 3), st.sampled_from(RUNTIMES)),
    max_size=6,
    unique_by=lambda row: row[1:],
)


@given(FLEETS, DEMANDS, st.booleans())
def test_every_packing_is_honest_and_never_beats_the_bound(
    fleet: list[tuple[int, int, str]], demand: list[tuple[int, int, int, str]], whole: bool
) -> None:
    machines = tuple(machine(f"n{i}", *row) for i, row in enumerate(fleet))
    wanted = tuple(pod for row in demand for pod in pods(*row))
    problem = instance(machines, wanted, whole_devices=whole)
    packing = pack(problem)
    check(problem, packing)
    assert bound_unplaced_mib(problem) <= packing.unplaced_mib
    assert pack(problem) == packing
