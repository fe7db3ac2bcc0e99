"""What the gateway is told: models, where their replicas answer, who may ask. One plain value.

It is made from the fleet and the catalogue, rendered for Envoy, and sent whole to the admission
workers, so that all of them always speak of the same fleet.
"""

from collections.abc import Mapping

import msgspec

from controlplane.domain.entrances import GatewayPolicy
from controlplane.domain.overrides import Isolation
from controlplane.domain.policies import AdmissionPolicy, BreakerPolicy
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ModelName, ReplicaName, Zone


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A replica that takes requests, and where it answers."""

    replica: ReplicaName
    host: str  # an address, not a name
    port: int
    slots: int  # requests it serves at once; of a lending spare, those it lends
    zone: Zone = Zone("")
    lending: bool = False  # a spare: for low alone
    taking: bool = True  # False: gets nothing new; its slots are those still busy


class ServedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model as the gateway sees it."""

    name: ModelName
    names: tuple[str, ...] = ()  # further values of `model` in a body
    hosts: tuple[str, ...] = ()
    prefix: str | None = None
    request_types: Mapping[str, Priority] = {}
    admission: AdmissionPolicy = AdmissionPolicy()
    breaker: BreakerPolicy = BreakerPolicy()
    wait_limits: Mapping[Priority, float] = {}  # promised P99 of the wait, in seconds
    service_s: float = 1.0  # mean seconds of a request, as far as known
    endpoints: tuple[Endpoint, ...] = ()
    recovery_s: float = 30.0  # how long a replica that began anew needs to answer
    tls: bool = False
    isolated: Isolation | None = None  # a person took it out of traffic

    @property
    def serving(self) -> tuple[Endpoint, ...]:
        """Replicas in service, those included that only finish what they have."""
        return tuple(at for at in self.endpoints if not at.lending)

    @property
    def lending(self) -> tuple[Endpoint, ...]:
        """Spares that lend slots to low."""
        return tuple(at for at in self.endpoints if at.lending)


class ApiKey(msgspec.Struct, frozen=True, kw_only=True):
    """A caller's key, without its secret."""

    secret_hash: str  # SHA-256, in hexadecimal
    name: str
    priority: Priority
    tenant: str = ""  # callers of one tenant share its turns; without one, the key's name
    models: tuple[ModelName, ...] = ()  # it may see only these; empty: all

    def sees(self, model: ModelName) -> bool:
        """Say whether it may ask for a model."""
        return not self.models or model in self.models


class GatewayPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the gateway serves."""

    models: tuple[ServedModel, ...] = ()
    keys: tuple[ApiKey, ...] = ()
    policy: GatewayPolicy = GatewayPolicy()
    zone: Zone = Zone("")  # where this gateway stands
    peers: tuple[Endpoint, ...] = ()  # all gateways, this one included: for zone-aware balancing
