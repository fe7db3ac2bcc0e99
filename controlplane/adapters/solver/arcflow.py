"""The packing of one device as paths through a graph, one graph for each group of alike devices.

A path from 0 to the device's size is a way to fill it: each arc puts in one pod (or one share of a
multi-device pod), the last arc leaves the rest empty. A whole-number flow is a packing of all the
devices at once, and devices that are alike are never told apart, so the problem's size depends on
the sizes of pods and not on their number (Valerio de Carvalho, 1999).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from controlplane.decide.placement.instance import Demand, Fleet, Group, Instance, Shape, homes
from controlplane.decide.placement.plan import by_rounded_up

MAX_ARCS = 4000  # above this, needs are rounded up to a coarser unit of memory


@dataclass(frozen=True, slots=True)
class Arc:
    """One step of a path; `shape` None leaves the rest of the device empty."""

    tail: int
    head: int
    shape: int | None


@dataclass(frozen=True, slots=True)
class Graph:
    """All ways to fill one device of a group."""

    group: Group
    devices: int
    size: int  # the last vertex
    arcs: tuple[Arc, ...]


@dataclass(frozen=True, slots=True)
class Parcel:
    """All pods of one (rounded) shape."""

    shape: Shape
    pods: int
    most: dict[Group, int]  # pods that the machines of each group can hold at most


@dataclass(frozen=True, slots=True)
class Network:
    """The whole instance."""

    parcels: tuple[Parcel, ...]
    graphs: tuple[Graph, ...]
    unit_mib: int
    exact: bool  # False: needs were rounded up, so the optimum here is no bound


def network(instance: Instance) -> Network:
    """Build the graphs with the finest unit of memory that keeps them small enough."""
    fleet, demand = instance.fleet, instance.demand
    finest = gcd(*(shape.need_mib for shape in demand)) if demand else 1
    unit = finest
    while True:
        parcels = _parcels(demand, fleet, unit)
        graphs: list[Graph] = []
        arcs_left = MAX_ARCS
        for group, machines in fleet.items():
            devices = sum(machine.devices for machine in machines)
            size = 1 if instance.whole_devices else group.usable_mib // unit
            graph = _graph(group, parcels, (devices, size), unit, arcs_left)
            if graph is None:
                break
            graphs.append(graph)
            arcs_left -= len(graph.arcs)
        else:
            return Network(parcels, tuple(graphs), unit, exact=unit == finest)
        unit *= 2


def _parcels(demand: Demand, fleet: Fleet, unit: int) -> tuple[Parcel, ...]:
    parcels = []
    for rounded, members in by_rounded_up(demand, unit).items():
        found = homes(rounded, fleet)
        pods = sum(len(demand[shape]) for shape in members)
        if found:
            most = {group: min(pods, _most(rounded, group, fleet)) for group in found}
            parcels.append(Parcel(rounded, pods, most))
    return tuple(parcels)


def _most(shape: Shape, group: Group, fleet: Fleet) -> int:
    on_one_set = group.usable_mib // shape.need_mib
    return sum(machine.devices // shape.devices * on_one_set for machine in fleet[group])


def _graph(
    group: Group,
    parcels: Sequence[Parcel],
    extent: tuple[int, int],
    unit: int,
    arcs_left: int,
) -> Graph | None:
    """Build one graph, or give up when it takes more arcs than are left."""
    devices, size = extent
    steps = sorted(
        (-min(parcel.shape.need_mib // unit, size), index)
        for index, parcel in enumerate(parcels)
        if group in parcel.most
    )
    arcs: list[Arc] = []
    reached = {0}
    for step, index in steps:  # biggest first: there are fewer ways to reach the same filling
        length = -step
        tails = sorted(reached)
        for tail in tails:  # grows while the same shape is put in again
            head = tail + length
            if head > size:
                continue
            arcs.append(Arc(tail, head, index))
            if head not in reached:
                reached.add(head)
                tails.append(head)
        if len(arcs) + len(reached) > arcs_left:
            return None
    arcs.extend(Arc(tail, size, None) for tail in sorted(reached - {size}))
    return Graph(group, devices, size, tuple(arcs))
