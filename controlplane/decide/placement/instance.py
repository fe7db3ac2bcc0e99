"""What is to be placed and where: pods that need device memory, machines that have it.

All memory is whole MiB per device, already reduced to the usable share, so that every sum is exact
and two runs agree to the last bit.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec

from controlplane.domain.quantities import ClassName, ModelName, NodeName, Zone

MIB_PER_GIB = 1024


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """One node and its identical devices."""

    name: NodeName
    zone: Zone
    node_class: ClassName
    devices: int
    usable_mib: int  # of one device
    runtime: str


class Pod(msgspec.Struct, frozen=True, kw_only=True):
    """One replica: `need_mib` on each of `devices` devices of one node."""

    name: str
    model: ModelName
    devices: int
    need_mib: int
    runtimes: frozenset[str]  # any one of them will do


class Shape(msgspec.Struct, frozen=True, order=True):
    """What matters of a pod for packing; pods of one shape are interchangeable."""

    devices: int
    need_mib: int
    runtimes: tuple[str, ...]

    @property
    def mib(self) -> int:
        """Memory over all its devices."""
        return self.devices * self.need_mib


class Group(msgspec.Struct, frozen=True, order=True):
    """What matters of a machine's device for packing; devices of one group are alike."""

    node_class: ClassName
    usable_mib: int
    runtime: str

    def admits(self, shape: Shape) -> bool:
        """Say whether one device of the group can hold a share of the shape."""
        return shape.need_mib <= self.usable_mib and self.runtime in shape.runtimes


Fleet: TypeAlias = Mapping[Group, tuple[Machine, ...]]
Demand: TypeAlias = Mapping[Shape, tuple[Pod, ...]]


class Instance(msgspec.Struct, frozen=True, kw_only=True):
    """A packing problem."""

    machines: tuple[Machine, ...]
    pods: tuple[Pod, ...]
    whole_devices: bool = False  # True: a device is never shared by two pods

    @property
    def fleet(self) -> Fleet:
        """The machines by group, groups in a fixed order."""
        grouped: dict[Group, list[Machine]] = {}
        for machine in self.machines:
            group = Group(machine.node_class, machine.usable_mib, machine.runtime)
            grouped.setdefault(group, []).append(machine)
        return {group: tuple(grouped[group]) for group in sorted(grouped)}

    @property
    def demand(self) -> Demand:
        """The pods by shape, biggest first: most devices, then most memory, then pickiest."""
        grouped: dict[Shape, list[Pod]] = {}
        for pod in self.pods:
            shape = Shape(pod.devices, pod.need_mib, tuple(sorted(pod.runtimes)))
            grouped.setdefault(shape, []).append(pod)
        return {shape: tuple(grouped[shape]) for shape in sorted(grouped, key=_biggest_first)}


def _biggest_first(shape: Shape) -> tuple[int, int, int, tuple[str, ...]]:
    return (-shape.devices, -shape.need_mib, len(shape.runtimes), shape.runtimes)


def homes(shape: Shape, fleet: Fleet) -> tuple[Group, ...]:
    """Give the groups with at least one machine on which a pod of this shape fits when empty."""
    return tuple(
        group
        for group, machines in fleet.items()
        if group.admits(shape) and any(machine.devices >= shape.devices for machine in machines)
    )


def mib_of(pods: Iterable[Pod]) -> int:
    """Add up what the pods need over all their devices."""
    return sum(pod.devices * pod.need_mib for pod in pods)
