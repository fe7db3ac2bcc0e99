"""The network as rows and columns, and HiGHS that makes one sum after another least.

Each sum is held at its least before the next is made least, which is what lexicographic means. The
search is bounded by branch-and-bound nodes and never by time, on one thread and with one seed, so
the same instance always gives the same plan.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, isfinite

import highspy

from controlplane.adapters.solver.arcflow import Graph, Network, Parcel
from controlplane.decide.placement.instance import Group

DOUBT = 1e-6  # in a bound that comes back as a float

Terms = dict[int, float]
Weights = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Stage:
    """How far the solver came with one sum."""

    bound: int
    proven: bool
    nodes: int


class SilentHighs(highspy.Highs):
    """HiGHS without its banner, which would stand in the middle of somebody's JSON.

    (Some of highspy's own methods have no types; each call of one says so.)
    """

    def enableCallbacks(self) -> None:  # noqa: N802  # highspy's name; called while constructing
        """Fall silent first: the first call into the solver is what prints the banner."""
        self.silent()
        super().enableCallbacks()  # type: ignore[no-untyped-call]  # as above


class Programme:
    """One instance in the solver."""

    def __init__(self, net: Network) -> None:
        """Write the whole network down."""
        self.net = net
        self._upper: list[float] = []
        self._rows: list[tuple[float, float, Terms]] = []
        self.unplaced = [self._column(parcel.pods) for parcel in net.parcels]
        placed = [
            {group: self._column(most) for group, most in parcel.most.items()}
            for parcel in net.parcels
        ]
        self.used: list[int] = []
        self.flows: list[list[int]] = []
        for graph in net.graphs:
            self._write_graph(graph, placed)
        for parcel, unplaced, by_group in zip(net.parcels, self.unplaced, placed, strict=True):
            columns = (unplaced, *by_group.values())
            self._rows.append((parcel.pods, parcel.pods, dict.fromkeys(columns, 1.0)))
        self._solver = self._load()
        self._values = [0.0] * len(self._upper)
        for parcel, unplaced in zip(net.parcels, self.unplaced, strict=True):
            self._values[unplaced] = float(parcel.pods)  # to place nothing is always possible

    def _column(self, upper: float) -> int:
        self._upper.append(upper)
        return len(self._upper) - 1

    def _write_graph(self, graph: Graph, placed: list[dict[Group, int]]) -> None:
        used = self._column(graph.devices)
        flows = [self._column(graph.devices) for _ in graph.arcs]
        self.used.append(used)
        self.flows.append(flows)
        vertices: dict[int, Terms] = {0: {used: -1.0}}
        shares: dict[int, Terms] = {}
        for arc, flow in zip(graph.arcs, flows, strict=True):
            vertices.setdefault(arc.tail, {})[flow] = 1.0
            if arc.head != graph.size:
                vertices.setdefault(arc.head, {})[flow] = -1.0
            if arc.shape is not None:
                shares.setdefault(arc.shape, {})[flow] = 1.0
        for terms in vertices.values():  # what flows in flows on
            self._rows.append((0, 0, terms))
        for index, terms in shares.items():  # a pod is placed when all its shares are
            parcel: Parcel = self.net.parcels[index]
            terms[placed[index][graph.group]] = -float(parcel.shape.devices)
            self._rows.append((0, 0, terms))

    def _load(self) -> highspy.Highs:
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(self._upper), len(self._rows)
        lp.col_cost_ = [0.0] * lp.num_col_
        lp.col_lower_ = [0.0] * lp.num_col_
        lp.col_upper_ = self._upper
        lp.integrality_ = [highspy.HighsVarType.kInteger] * lp.num_col_
        lp.row_lower_ = [lower for lower, _, _ in self._rows]
        lp.row_upper_ = [upper for _, upper, _ in self._rows]
        starts, index, value = [0], list[int](), list[float]()
        for _, _, terms in self._rows:
            index.extend(terms)
            value.extend(terms.values())
            starts.append(len(index))
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = starts, index, value
        solver = SilentHighs()  # type: ignore[no-untyped-call]  # as above
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("random_seed", 0)
        solver.setOptionValue("mip_rel_gap", 0.0)  # the default calls 0.01 % off optimal
        solver.passModel(lp)
        return solver

    def least(self, weights: Weights, node_limit: int) -> Stage:
        """Make a weighted sum least, then hold it there for the sums to come."""
        solver, columns = self._solver, len(self._upper)
        costs = [float(weights.get(column, 0)) for column in range(columns)]
        solver.changeColsCost(columns, list(range(columns)), costs)
        start = highspy.HighsSolution()
        start.col_value = self._values
        solver.setSolution(start)
        solver.setOptionValue("mip_max_nodes", node_limit)
        solver.run()
        info = solver.getInfo()
        proven = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        self._values = [float(round(value)) for value in solver.getSolution().col_value]
        reached = round(sum(weight * self._values[column] for column, weight in weights.items()))
        bound = reached if proven else _whole(info.mip_dual_bound)
        solver.addRow(
            -highspy.kHighsInf,
            reached + 0.5,  # all weights are whole, so this is no slack and spares the tolerances
            len(weights),
            list(weights),
            [float(weight) for weight in weights.values()],
        )
        return Stage(bound=bound, proven=proven, nodes=max(info.mip_node_count, 0))

    def flow(self) -> list[list[int]]:
        """Give the flow over every arc of every graph."""
        return [[int(self._values[column]) for column in flows] for flows in self.flows]


def _whole(bound: float) -> int:
    """Give the least whole number that a bound leaves possible; none known is 0."""
    return max(0, ceil(bound * (1 - DOUBT) - DOUBT)) if isfinite(bound) else 0
