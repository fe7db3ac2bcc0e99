"""Whatever the fleet looks like, a move goes only where the model fits and devices are free."""

from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.placement.matching import match
from controlplane.decide.placement.relocate import PlacementMemory, PlacementSeen, cycle
from controlplane.domain.decisions import Standing
from controlplane.domain.fleet import FleetView
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.domain.samples import Absence, NoData
from tests.decide.placement.fleets import catalogue, model, node, replica

NEEDS = {"s": 8, "m": 14, "l": 40, "xl": 100}
CROWD = catalogue({name: model(gib, tensor_parallel=(1, 2)) for name, gib in NEEDS.items()})
CLASS_NAMES = sorted(CROWD.node_classes)


@given(
    nodes=st.lists(st.tuples(st.sampled_from(CLASS_NAMES), st.integers(0, 3)), max_size=5),
    sat=st.lists(st.tuples(st.sampled_from(sorted(CROWD.models)), st.integers(0, 4)), max_size=6),
    wants=st.dictionaries(
        st.sampled_from(sorted(CROWD.models)),
        st.dictionaries(st.sampled_from(CLASS_NAMES), st.integers(0, 2), max_size=2),
        max_size=2,
    ),
    forbidden=st.booleans(),
)
def test_no_move_goes_where_the_model_does_not_fit_or_no_device_is_free(
    nodes: list[tuple[ClassName, int]],
    sat: list[tuple[ModelName, int]],
    wants: dict[ModelName, dict[ClassName, int]],
    forbidden: bool,
) -> None:
    there = tuple(node(f"n{i}", name, devices) for i, (name, devices) in enumerate(nodes))
    left = {n.name: n.devices for n in there}
    devices_of = {
        (name, m.node_class): m.devices or 1
        for name, its in CROWD.models.items()
        for m in match(name, its, CROWD)
    }
    pods = []
    plan: dict[ModelName, Standing] = {}
    for i, (name, at) in enumerate(sat):
        if at >= len(there):
            continue
        on = there[at]
        if left[on.name] >= devices_of[name, on.node_class]:
            left[on.name] -= devices_of[name, on.node_class]
            pods.append(replica(f"p{i}", name, on.node_class, on.name))
            split = dict(plan[name].split) if name in plan else {}
            split[on.node_class] = split.get(on.node_class, 0) + 1
            plan[name] = Standing(replicas=sum(split.values()), split=split, since=0.0)
    known = NoData(Absence.UNREACHABLE) if forbidden else there
    view = FleetView(at=1.0, nodes=known, replicas=tuple(pods))
    look = PlacementSeen(at=1.0, view=view, plan=plan, waiting=wants)
    choices, memory = cycle(look, CROWD, PlacementMemory())
    assert not (forbidden and memory.moves)
    assert all(c.current == c.target for c in choices)
    assert len(choices) <= len(wants)
    for mover, (away, to) in memory.moves.items():
        verdict = next(m for m in match(mover, CROWD.models[mover], CROWD) if m.node_class == to)
        assert verdict.fits
        assert mover not in wants
        free = sum(left[n.name] // (verdict.devices or 1) for n in there if n.node_class == to)
        assert plan[mover].split[away] <= free
