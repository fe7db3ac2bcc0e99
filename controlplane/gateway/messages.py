"""What the daemon and its admission workers say to each other: one JSON line a message."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from controlplane.domain.gateway import GatewayPlan
from controlplane.gateway.tally import ClassTally


class Open(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Begin: the first message."""

    listen: str  # of the external processor: HOST:PORT or unix:PATH; empty: none
    secret: str
    share: float = 1.0  # of every model's slots, where nobody shares them out
    name: str = "worker"
    proxy: tuple[str, int] | None = None  # listen for the requests themselves: no Envoy
    shared: str = ""  # address of the Redis or Valkey that shares slots out


class Serve(msgspec.Struct, frozen=True, tag=True):
    """Serve this from now on."""

    plan: GatewayPlan


class Shut(msgspec.Struct, frozen=True, tag=True):
    """Whose breakers are open, and for how many seconds still; the others are closed."""

    models: Mapping[str, int]


class Sync(msgspec.Struct, frozen=True, tag=True):
    """Say when all that was told before this is done."""

    number: int


class Probe(msgspec.Struct, frozen=True, tag=True):
    """Let the next request of a model through as a probe."""

    model: str


class Foreign(msgspec.Struct, frozen=True, tag=True):
    """Running requests nobody has a stream of, by model: from before a restart."""

    models: Mapping[str, int]


class Close(msgspec.Struct, frozen=True, tag=True):
    """Take no more; end when all is done, or after so many seconds."""

    grace_s: float


Command: TypeAlias = Open | Serve | Shut | Probe | Foreign | Sync | Close


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The worker serves the plan it was sent."""

    port: int = 0  # of the proxy


class Synced(msgspec.Struct, frozen=True, tag=True):
    """All that was told before the `Sync` of this number is done."""

    number: int


class Breach(msgspec.Struct, frozen=True, tag=True):
    """Something worth deciding on at once: turned-away, waiting (and nobody serves), wait."""

    model: str
    why: str


class Probing(msgspec.Struct, frozen=True, tag=True):
    """A probe is under way."""

    model: str


class Heard(msgspec.Struct, frozen=True, tag=True):
    """How requests ended, in order: w(ell), b(roken), n(either)."""

    models: Mapping[str, str]
    probes: Mapping[str, str] = {}


class Counted(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Everything a worker counted since it began, of models where something happened."""

    models: Mapping[str, list[ClassTally]]
    unplaced: Mapping[str, int]
    degraded: bool = False
    shared_s: tuple[int, float] = (0, 0.0)  # times asked, and seconds spent in Redis


Event: TypeAlias = Ready | Synced | Breach | Probing | Heard | Counted


def line(message: Command | Event) -> bytes:
    """Write a message."""
    return msgspec.json.encode(message) + b"\n"
