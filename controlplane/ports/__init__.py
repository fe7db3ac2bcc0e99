"""What the loops and pages need from outside, each with a real and an embedded implementation.

Adapters raise `UnavailableError` when the other side cannot be had; anything else is
a bug.
"""

from controlplane.ports.books import (
    AuditEntry,
    AuditLog,
    CatalogueStore,
    CatalogueVersion,
    Ledger,
    OverrideStore,
    Token,
    TokenStore,
)
from controlplane.ports.cluster import (
    Cluster,
    EngineAt,
    Engines,
    EngineState,
    Leadership,
    Signals,
    UnavailableError,
    Workloads,
)
from controlplane.ports.doors import BreakerReads, BreakersView, ClusterSettings, QueueReads
from controlplane.ports.gateways import Gateways, Line
from controlplane.ports.journal import (
    DecisionQuery,
    DecisionReads,
    DecisionRow,
    Journal,
    LoopMemory,
)
from controlplane.ports.runs import RunCourse, RunProgress, WhatIf
from controlplane.ports.sources import PassedOver, SignalRead, SignalReads

__all__ = [
    "AuditEntry",
    "AuditLog",
    "BreakerReads",
    "BreakersView",
    "CatalogueStore",
    "CatalogueVersion",
    "Cluster",
    "ClusterSettings",
    "DecisionQuery",
    "DecisionReads",
    "DecisionRow",
    "EngineAt",
    "EngineState",
    "Engines",
    "Gateways",
    "Journal",
    "Leadership",
    "Ledger",
    "Line",
    "LoopMemory",
    "OverrideStore",
    "PassedOver",
    "QueueReads",
    "RunCourse",
    "RunProgress",
    "SignalRead",
    "SignalReads",
    "Signals",
    "Token",
    "TokenStore",
    "UnavailableError",
    "WhatIf",
    "Workloads",
]
