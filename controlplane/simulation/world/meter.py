"""What a model's replicas cost and how many served: slot time, device time, first reaction."""

from dataclasses import dataclass
from math import inf

from controlplane.simulation.world.pods import Pod
from controlplane.simulation.world.station import Station


@dataclass(slots=True)
class Meter:
    """One model's meter; seconds since the world's start."""

    slot_s: float = 0.0
    device_s: float = 0.0
    max_serving: int = 0
    first_added: float = inf

    def bill(self, pod: Pod, now: float) -> None:
        """Bill a pod from the moment it held devices to now."""
        since = now if pod.bound is None else pod.bound
        self.slot_s += (now - since) * pod.variant.slots
        self.device_s += (now - since) * pod.devices

    def rose(self, station: Station, now: float) -> None:
        """Note that capacity comes into service: the first after a breach is the reaction."""
        if self.first_added == inf:
            station.look_for_breach(now)
            if station.book.first_breach <= now and now > 0:
                self.first_added = now

    def serving(self, station: Station) -> None:
        """Note how many serve."""
        self.max_serving = max(self.max_serving, station.slots.serving)
