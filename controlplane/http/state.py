"""What pages and API may read and ask for. Wired once in `daemon`, handed to every request."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from aiohttp import web

from controlplane.clock import Clock
from controlplane.domain.catalogue import Catalogue
from controlplane.http.access import Access
from controlplane.http.door import FrontDoor
from controlplane.http.shared import Shared
from controlplane.ports import (
    AuditLog,
    CatalogueStore,
    CatalogueVersion,
    DecisionReads,
    Leadership,
    Ledger,
    OverrideStore,
    SignalReads,
    TokenStore,
    WhatIf,
)
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.history import History
from controlplane.telemetry.metrics import Metrics


@dataclass(slots=True)
class CatalogueInForce:
    """The catalogue that decides now, and the fault of a newer file that was refused, if any."""

    catalogue: Catalogue
    version: CatalogueVersion
    faults: tuple[str, ...] = ()  # file:line: field: value: rule
    refused_at: float | None = None


class Replay(Protocol):
    """Decides a stored decision again."""

    def __call__(self, loop: str, seen: bytes) -> object:
        """Give the `Choice` that the code of today takes on that input."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Everything the HTTP side knows. Mutable parts are shared with the loops, by reference."""

    clock: Clock
    world: str  # id of the world: "embedded-…" or the cluster's
    cluster: str  # its name for people
    acting: bool  # False: advisory mode
    leadership: Leadership  # who leads, and whether it is this daemon
    history: History
    heartbeats: Heartbeats
    in_force: CatalogueInForce
    decisions: DecisionReads
    replay: Replay
    ledger: Ledger
    overrides: OverrideStore
    catalogues: CatalogueStore
    tokens: TokenStore
    audit: AuditLog
    whatif: WhatIf
    validate: Callable[[str, str], Catalogue]  # text, source; ValueError with one line per fault
    apply_catalogue: Callable[[str, str, str], Awaitable[CatalogueVersion]]  # text, source, by
    signals: SignalReads | None = None  # where signals come from, where there are several sources
    door: FrontDoor = field(default_factory=FrontDoor)  # what requests come through
    scenarios: dict[str, str] = field(default_factory=dict)  # name -> one line about it
    policies: tuple[str, ...] = ()
    wake: Callable[[], None] = lambda: None  # let the loops look now (after a pause, a pin)
    access: Access = field(default_factory=Access)  # where it is bound, by which names it is called
    metrics: Metrics = field(default_factory=Metrics)
    shared: Shared = field(default_factory=Shared)

    @property
    def leader(self) -> str:
        """Name who leads, for people; empty while nobody is known to."""
        return self.leadership.leader


STATE = web.AppKey("state", State)
