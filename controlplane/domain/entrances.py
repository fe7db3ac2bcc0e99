"""How requests come in: by which names a model is found, and who may ask for what."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Interval, Len, Predicate

from controlplane.domain.policies import STRICT
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import PositiveCount, PositiveSeconds


def is_prefix(written: str) -> bool:
    """Say whether a path may stand before a model's own paths."""
    return written.startswith("/") and len(written) > 1 and not written.endswith("/")


Named = Annotated[str, Len(1, 253)]
Prefix = Annotated[str, Predicate(is_prefix)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """By which names a model is found. Its own name always is one, as `/models/NAME/…` too."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    hosts: tuple[Named, ...] = ()
    """Host names all of whose requests are for this model."""
    prefix: Prefix | None = None
    """A path all of whose requests are for this model; it is cut off before the engine sees it."""
    names: tuple[Named, ...] = ()
    """Further values of `model` in the body by which it is asked for."""
    request_types: Mapping[str, Priority] = field(default_factory=dict)
    """What a request's X-Request-Type means, e.g. {chat: high, analysis: medium, batch: low}."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayPolicy:
    """What the gateway asks of every request."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    trust: Literal["keys", "headers"] = "keys"
    """keys: the class is that of the caller's key, a header may only lower it · headers: the
    header says it, for closed networks."""
    require_key: bool = False
    """Refuse requests without a key (401); otherwise they are of class low."""
    longest_wait_s: PositiveSeconds = 120.0
    """Nobody waits longer for a slot, whatever the model's policy says."""
    longest_body: PositiveCount = 16 * 2**20
    """Bytes of a request's body; a longer one is refused (413)."""
    longest_headers_kib: Annotated[int, Interval(ge=1, le=8192)] = 60
    """KiB of a request's headers; more are refused (431)."""
    most_headers: PositiveCount = 100
    """Headers of a request; more are refused (431)."""
    evict: bool = False
    """End the low request that started last when a high one finds no slot; it is told 429."""
