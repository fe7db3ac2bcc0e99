"""What a gateway in a process of its own and the daemons say to each other: one message a frame.

A daemon says what is to be served; the gateway says what it counted since this line began, and at
once what is worth deciding on. Whatever a line missed is in the next message, for each is whole.
"""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from controlplane.decide.breakers.breaker import Breaker
from controlplane.domain.decisions import Choice
from controlplane.domain.gateway import GatewayPlan
from controlplane.domain.quantities import ModelName, Zone
from controlplane.gateway.messages import Breach, Counted


class Joining(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """The first message of a gateway."""

    name: str
    address: str  # an IP address
    port: int
    zone: Zone = Zone("")
    states: Mapping[ModelName, Breaker] = {}  # of its breakers; none of one that has just begun


class Changed(msgspec.Struct, frozen=True, tag=True):
    """A breaker of a gateway changed: the choice to be journalled, and where it stands now."""

    choice: Choice
    breaker: Breaker


class Ejected(msgspec.Struct, frozen=True, tag=True):
    """How many replicas of each model it leaves alone now."""

    models: Mapping[ModelName, int]


class Leaving(msgspec.Struct, frozen=True, tag=True):
    """It ends on purpose: nothing is in doubt."""


Report: TypeAlias = Joining | Counted | Breach | Changed | Ejected | Leaving


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """What a daemon says."""

    plan: GatewayPlan
    states: Mapping[ModelName, Breaker] = {}  # where breakers stood, for a gateway that begins
    leading: bool = False  # of several daemons, this one acts
