"""What a world is built from."""

from collections.abc import Mapping
from dataclasses import dataclass

from controlplane.domain.catalogue import Catalogue
from controlplane.domain.quantities import ClassName, Instant, ModelName
from controlplane.simulation.world.faults import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSpec:
    """The start of a world: its hardware and models, who serves, how fast things go."""

    catalogue: Catalogue
    """Pools become nodes, models get a front door each."""
    start: Instant
    """The instant of second 0 of the traffic."""
    initial: Mapping[ModelName, Mapping[ClassName, int]]
    """Replicas that serve, warmed up, from the start; the models named first come first."""
    initial_where_it_fits: bool = False
    """True: what finds no device is left out. False: it is a fault of the scenario."""
    self_serving: bool = False
    """True: a replica goes into service by itself once it is healthy, `promote_s` later (a plain
    Deployment). False: it waits for WarmUp and SetLane."""
    pull_gib_per_s: float = 0.0625
    """Image pull, per node: 15 GiB in 4 minutes."""
    image_cached: bool = False
    """True: every node has every image, nothing is pulled."""
    warm_up_request_s: float | None = None
    """Seconds of one request of a warm-up batch on a warmed engine. None: the variant's
    `service_s`. With 0 the batch takes no time."""
    grace_s: float = 0.0
    """Time a deleted pod has to finish its requests; what still runs then is cut off."""
    fifo: bool = False
    """One unbounded queue without classes for every model."""
    faults: tuple[Fault, ...] = ()
