"""The re-plan of a whole instance: network in, HiGHS's stages, patterns of devices out."""

from collections.abc import Sequence

from controlplane.adapters.solver.arcflow import Network, network
from controlplane.adapters.solver.paths import patterns
from controlplane.adapters.solver.programme import Programme, Stage, Weights
from controlplane.decide.placement.bound import bound_unplaced_mib
from controlplane.decide.placement.instance import Instance, homes
from controlplane.decide.placement.plan import Plan

NODE_LIMIT = 200  # branch-and-bound nodes of each stage


def replan(instance: Instance, node_limit: int = NODE_LIMIT) -> Plan:
    """Plan an instance anew. Blocks: the daemon asks through `worker`."""
    net = network(instance)
    bound = bound_unplaced_mib(instance)
    if not net.parcels or not net.graphs:
        return Plan(patterns=(), unit_mib=net.unit_mib, bound_mib=bound, proven=True)
    programme = Programme(net)
    stages = [programme.least(weights, node_limit) for weights in _sums(programme)]
    return Plan(
        patterns=patterns(net, programme.flow()),
        unit_mib=net.unit_mib,
        bound_mib=max(bound, _bound(instance, net, stages[0])),
        proven=net.exact and all(stage.proven for stage in stages),
        nodes=sum(stage.nodes for stage in stages),
    )


def _sums(programme: Programme) -> Sequence[Weights]:
    """Give what is made least, in order: the score of a `Packing`, column by column."""
    net = programme.net
    parcels = list(zip(programme.unplaced, net.parcels, strict=True))
    graphs = list(zip(programme.used, net.graphs, strict=True))
    return (
        {column: parcel.shape.mib // net.unit_mib for column, parcel in parcels},
        {column: 1 for column, _ in parcels},
        {column: 1 for column, _ in graphs},
        {column: graph.group.usable_mib for column, graph in graphs},
    )


def _bound(instance: Instance, net: Network, first: Stage) -> int:
    """Give the solver's own bound, where needs were not rounded, plus the pods without a home."""
    if not net.exact:
        return 0
    fleet = instance.fleet
    homeless = sum(
        shape.mib * len(pods) for shape, pods in instance.demand.items() if not homes(shape, fleet)
    )
    return first.bound * net.unit_mib + homeless
