"""From flows back to devices: a whole-number flow falls apart into paths, each a way to fill."""

from collections import Counter
from collections.abc import Sequence

from controlplane.adapters.solver.arcflow import Graph, Network
from controlplane.decide.placement.instance import Shape
from controlplane.decide.placement.plan import Pattern


def patterns(net: Network, flows: Sequence[Sequence[int]]) -> tuple[Pattern, ...]:
    """Give how many devices of each group are filled in which way."""
    found: list[Pattern] = []
    for graph, flow in zip(net.graphs, flows, strict=True):
        ways: Counter[tuple[tuple[Shape, int], ...]] = Counter()
        for way, devices in _paths(graph, list(flow)):
            held = Counter(net.parcels[index].shape for index in way)
            ways[tuple(sorted(held.items(), reverse=True))] += devices
        found.extend(
            Pattern(group=graph.group, devices=devices, holds=holds)
            for holds, devices in sorted(ways.items())
            if holds
        )
    return tuple(found)


def _paths(graph: Graph, flow: list[int]) -> list[tuple[list[int], int]]:
    """Take paths off the flow, widest step first, until nothing flows."""
    leaving: dict[int, list[int]] = {}
    for index, arc in enumerate(graph.arcs):
        leaving.setdefault(arc.tail, []).append(index)
    found: list[tuple[list[int], int]] = []
    while True:
        vertex, taken = 0, list[int]()
        while vertex != graph.size:
            widest = max(leaving[vertex], key=lambda index: flow[index])
            if not flow[widest]:
                break
            taken.append(widest)
            vertex = graph.arcs[widest].head
        if vertex != graph.size:
            return found
        devices = min(flow[index] for index in taken)
        for index in taken:
            flow[index] -= devices
        way = [graph.arcs[index].shape for index in taken]
        found.append(([shape for shape in way if shape is not None], devices))
