"""The devices of one group while they are being filled: who has how much room left.

Devices with the same room are kept together, so that the tightest one is found by bisection and not
by looking at all of them. Mutable on purpose: it lives for one packing and is never stored.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from controlplane.decide.placement.instance import Group, Machine, Shape


class Shelf:
    """All devices of one group; a device is known by its number on the shelf."""

    def __init__(self, group: Group, machines: Sequence[Machine], *, whole_devices: bool) -> None:
        """Start with every device empty."""
        self.group = group
        self.machines = tuple(machines)
        self.starts: list[int] = []  # number of each machine's first device
        self.owner: list[int] = []  # machine of each device
        for index, machine in enumerate(self.machines):
            self.starts.append(len(self.owner))
            self.owner.extend([index] * machine.devices)
        self.room = [group.usable_mib] * len(self.owner)
        self._whole = whole_devices
        self._rooms = [group.usable_mib] if self.owner else []  # distinct values, ascending
        self._with_room = {group.usable_mib: list(range(len(self.owner)))}  # heaps, lazily cleaned

    @property
    def used(self) -> int:
        """Count devices that hold anything."""
        return sum(room < self.group.usable_mib for room in self.room)

    @property
    def used_mib(self) -> int:
        """Add up the usable memory of devices that hold anything."""
        return self.used * self.group.usable_mib

    def tightest(self, need_mib: int) -> int | None:
        """Give the device with the least room that still holds `need_mib`, lowest number first."""
        at = bisect_left(self._rooms, need_mib)
        while at < len(self._rooms):
            room = self._rooms[at]
            heap = self._with_room[room]
            while heap and self.room[heap[0]] != room:
                heappop(heap)
            if heap:
                return heap[0]
            del self._rooms[at]
            del self._with_room[room]
        return None

    def take(self, device: int, need_mib: int) -> None:
        """Put `need_mib` on a device."""
        left = 0 if self._whole else self.room[device] - need_mib
        if left < 0 or self.room[device] < need_mib:
            raise ValueError(
                f"device {device} has {self.room[device]} MiB left, {need_mib} do not fit"
            )
        self._put(device, left)

    def _put(self, device: int, room: int) -> None:
        self.room[device] = room
        if room not in self._with_room:
            self._with_room[room] = []
            insort(self._rooms, room)
        heappush(self._with_room[room], device)

    def sites(self, shape: Shape) -> Iterator[tuple[int, ...]]:
        """Give sets of devices for pods of a multi-device shape, tightest machines first.

        A machine is tight when few of its devices would do; filling those first keeps whole
        machines free for bigger shapes. Filling one does not change the others' rank, so one
        pass serves all pods of the shape, as long as the caller takes each site it is given.
        """
        ranked: list[tuple[int, int, list[int]]] = []
        for index, machine in enumerate(self.machines):
            start = self.starts[index]
            fits = [
                device
                for device in range(start, start + machine.devices)
                if self.room[device] >= shape.need_mib
            ]
            if len(fits) >= shape.devices:
                ranked.append((len(fits), index, fits))
        for _, _, fits in sorted(ranked):
            fits.sort(key=lambda device: (self.room[device], device))
            for first in range(0, len(fits) - shape.devices + 1, shape.devices):
                yield tuple(fits[first : first + shape.devices])
