"""Pods onto nodes: biggest first, each onto the tightest device of the least sought-after group.

Multi-device pods go first, so whole nodes are theirs while any are left. A plan from elsewhere (see
`plan`) may be laid down before; what it leaves over is filled in the same way.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

import msgspec

from controlplane.decide.placement.instance import (
    Demand,
    Fleet,
    Group,
    Instance,
    Pod,
    Shape,
    homes,
    mib_of,
)
from controlplane.decide.placement.shelf import Shelf
from controlplane.domain.quantities import NodeName


class Seat(msgspec.Struct, frozen=True):
    """Where a pod went."""

    pod: str
    node: NodeName
    devices: tuple[int, ...]  # indices on the node


class Packing(msgspec.Struct, frozen=True, kw_only=True):
    """How a set of pods went onto a fleet, and the figures it is judged by."""

    seats: tuple[Seat, ...]
    unplaced: tuple[Pod, ...]
    unplaced_mib: int
    devices_used: int
    stranded_mib: int  # usable memory of devices in use which holds nothing

    @property
    def score(self) -> tuple[int, int, int, int]:
        """What is minimised, in order: big models must not starve, then small ones, then cost."""
        return (self.unplaced_mib, len(self.unplaced), self.devices_used, self.stranded_mib)


class Bench:
    """A fleet that is being filled; the pods still waiting, by shape."""

    def __init__(self, instance: Instance) -> None:
        """Start with empty machines and every pod waiting."""
        self.fleet: Fleet = instance.fleet
        self.shelves: Mapping[Group, Shelf] = {
            group: Shelf(group, machines, whole_devices=instance.whole_devices)
            for group, machines in self.fleet.items()
        }
        self.waiting: dict[Shape, list[Pod]] = {
            shape: list(reversed(pods)) for shape, pods in instance.demand.items()
        }
        self.seats: list[Seat] = []
        self.seated_mib = 0

    def seat(self, shape: Shape, shelf: Shelf, devices: Iterable[int]) -> None:
        """Put the next waiting pod of the shape onto these devices of one machine."""
        chosen = tuple(devices)
        pod = self.waiting[shape].pop()
        self.seated_mib += shape.mib
        for device in chosen:
            shelf.take(device, shape.need_mib)
        machine = shelf.owner[chosen[0]]
        start = shelf.starts[machine]
        node = shelf.machines[machine].name
        self.seats.append(Seat(pod.name, node, tuple(device - start for device in chosen)))

    def packing(self) -> Packing:
        """Close the bench: what is waiting now stays unplaced."""
        unplaced = tuple(pod for pods in self.waiting.values() for pod in reversed(pods))
        return Packing(
            seats=tuple(self.seats),
            unplaced=unplaced,
            unplaced_mib=mib_of(unplaced),
            devices_used=sum(shelf.used for shelf in self.shelves.values()),
            stranded_mib=sum(shelf.used_mib for shelf in self.shelves.values()) - self.seated_mib,
        )


Preference = Callable[[Shape, Shelf, int], tuple[float, ...]]
"""Ranks a device for a shape: the shelf it stands on and the room that would be left."""


def scarcity(demand: Demand, fleet: Fleet) -> Mapping[Group, float]:
    """Say how sought-after each group is: the memory that may come to it over what it has.

    A shape that has several homes comes to each in proportion to its size.
    """
    capacity = {
        group: group.usable_mib * sum(machine.devices for machine in machines)
        for group, machines in fleet.items()
    }
    sought = dict.fromkeys(fleet, 0.0)
    for shape, pods in demand.items():
        found = homes(shape, fleet)
        room = sum(capacity[group] for group in found)
        for group in found:
            sought[group] += shape.mib * len(pods) * capacity[group] / room
    return {group: sought[group] / capacity[group] if capacity[group] else 0.0 for group in fleet}


def fill(bench: Bench, prefer: Preference) -> None:
    """Seat what is waiting, biggest shapes first."""
    for shape in bench.waiting:
        shelves = [bench.shelves[group] for group in homes(shape, bench.fleet)]
        if shape.devices > 1:
            _fill_sites(bench, shape, sorted(shelves, key=lambda shelf: prefer(shape, shelf, 0)))
        else:
            _fill_devices(bench, shape, shelves, prefer)


def _fill_sites(bench: Bench, shape: Shape, shelves: Sequence[Shelf]) -> None:
    for shelf in shelves:
        for site in islice(shelf.sites(shape), len(bench.waiting[shape])):
            bench.seat(shape, shelf, site)


def _fill_devices(bench: Bench, shape: Shape, shelves: Sequence[Shelf], prefer: Preference) -> None:
    while bench.waiting[shape]:
        best: tuple[tuple[float, ...], Shelf, int] | None = None
        for shelf in shelves:
            device = shelf.tightest(shape.need_mib)
            if device is None:
                continue
            rank = prefer(shape, shelf, shelf.room[device] - shape.need_mib)
            if best is None or rank < best[0]:
                best = (rank, shelf, device)
        if best is None:
            return
        bench.seat(shape, best[1], (best[2],))


def preferences(instance: Instance) -> tuple[Preference, ...]:
    """Give the ways to rank devices that are worth trying; none is best on every fleet."""
    sought = scarcity(instance.demand, instance.fleet)

    def least_sought(_: Shape, shelf: Shelf, left: int) -> tuple[float, ...]:
        return (sought[shelf.group], left)

    def smallest_card(_: Shape, shelf: Shelf, left: int) -> tuple[float, ...]:
        return (shelf.group.usable_mib, left)

    def tightest(_: Shape, shelf: Shelf, left: int) -> tuple[float, ...]:
        return (left, sought[shelf.group])

    return (least_sought, smallest_card, tightest)


def pack(instance: Instance) -> Packing:
    """Pack by size-descending best fit; the best of a few rankings of the groups."""
    packings = []
    for prefer in preferences(instance):
        bench = Bench(instance)
        fill(bench, prefer)
        packings.append(bench.packing())
    return min(packings, key=lambda packing: packing.score)
