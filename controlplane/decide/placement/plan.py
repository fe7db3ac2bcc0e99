"""A packing plan made elsewhere, and how it is carried out: an input, judged like any other.

The plan says how many devices of a group are to be filled in which way. Carrying it out checks
every pod against the room that is really there, so a wrong plan can waste but never overfill.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec

from controlplane.decide.placement.instance import Demand, Group, Instance, Shape
from controlplane.decide.placement.packing import Bench, Packing, fill, preferences
from controlplane.decide.placement.shelf import Shelf

Holds: TypeAlias = tuple[tuple[Shape, int], ...]


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """A way to fill one device: how many pods (or shares of multi-device pods) of each size."""

    group: Group
    devices: int  # how many devices are to be filled like this
    holds: Holds  # needs rounded up to the plan's unit


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a solver proposes for an instance."""

    patterns: tuple[Pattern, ...]
    unit_mib: int  # the plan rounds needs up to multiples of this
    bound_mib: int  # no packing leaves less than this unplaced
    proven: bool  # True: no better plan exists
    nodes: int = 0  # branch-and-bound nodes explored


def rounded_up(shape: Shape, unit_mib: int) -> Shape:
    """Give the shape with its need rounded up to whole units, as plans see it."""
    units = -(-shape.need_mib // unit_mib)
    return Shape(shape.devices, units * unit_mib, shape.runtimes)


def by_rounded_up(demand: Demand, unit_mib: int) -> dict[Shape, list[Shape]]:
    """Say which shapes each rounded shape stands for, biggest first."""
    members: dict[Shape, list[Shape]] = {}
    for shape in demand:
        members.setdefault(rounded_up(shape, unit_mib), []).append(shape)
    return members


def follow(instance: Instance, plan: Plan) -> Packing:
    """Carry out a plan, fill in what it left over, and give the best of the ways to fill."""
    packings = []
    for prefer in preferences(instance):
        bench = Bench(instance)
        members = by_rounded_up(instance.demand, plan.unit_mib)
        for group, shelf in bench.shelves.items():
            stock = {
                pattern.holds: pattern.devices
                for pattern in plan.patterns
                if pattern.group == group
            }
            layer = _Layer(bench, shelf, stock, members)
            layer.lay_sites()
            layer.lay_devices()
        fill(bench, prefer)
        packings.append(bench.packing())
    return min(packings, key=lambda packing: packing.score)


class _Layer:
    """Lays a plan's patterns on the devices of one shelf."""

    def __init__(
        self,
        bench: Bench,
        shelf: Shelf,
        stock: dict[Holds, int],
        members: dict[Shape, list[Shape]],
    ) -> None:
        self.bench = bench
        self.shelf = shelf
        self.stock = stock
        self.members = members

    def lay_sites(self) -> None:
        """Seat multi-device pods, biggest first, and complete their devices as planned."""
        shared = {shape for holds in self.stock for shape, _ in holds if shape.devices > 1}
        for shape in sorted(shared, reverse=True):
            shares = sum(_of(holds, shape) * count for holds, count in self.stock.items())
            empty = (site for site in self.shelf.sites(shape) if self._empty(site))
            for _, site in zip(range(shares // shape.devices), empty, strict=False):
                if not self._seat(shape, site):
                    break
                for device in site:
                    self._complete(device, shape)

    def lay_devices(self) -> None:
        """Fill empty devices with the patterns that are left."""
        empty = (device for device in range(len(self.shelf.room)) if self._empty((device,)))
        for holds in self._fullest_first():
            for _ in range(self.stock[holds]):
                device = next(empty, None)
                if device is None:
                    return
                self._pour(device, holds)

    def _complete(self, device: int, shape: Shape) -> None:
        for holds in self._fullest_first():
            if _of(holds, shape):
                self.stock[holds] -= 1
                self._pour(device, holds)
                return

    def _pour(self, device: int, holds: Sequence[tuple[Shape, int]]) -> None:
        for shape, count in holds:
            for _ in range(count if shape.devices == 1 else 0):
                self._seat(shape, (device,))

    def _seat(self, shape: Shape, site: tuple[int, ...]) -> bool:
        """Seat one pod of the rounded shape, if one waits and there is room."""
        for member in self.members.get(shape, ()):
            if self.bench.waiting[member]:
                if any(self.shelf.room[device] < member.need_mib for device in site):
                    return False
                self.bench.seat(member, self.shelf, site)
                return True
        return False

    def _empty(self, site: Sequence[int]) -> bool:
        return all(self.shelf.room[device] == self.shelf.group.usable_mib for device in site)

    def _fullest_first(self) -> Iterator[Holds]:
        left = [holds for holds, count in self.stock.items() if count > 0]
        left.sort(key=lambda holds: (-sum(s.need_mib * count for s, count in holds), holds))
        yield from left


def _of(holds: Holds, shape: Shape) -> int:
    return sum(count for held, count in holds if held == shape)
