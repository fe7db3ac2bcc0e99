"""All ports of one store, whichever it is."""

from dataclasses import dataclass

from controlplane.adapters.sql.store import Store
from controlplane.loops.in_memory import (
    MemoryAuditLog,
    MemoryCatalogues,
    MemoryJournal,
    MemoryLedger,
    MemoryLoopMemory,
    MemoryOverrides,
    MemoryTokens,
)
from controlplane.ports import (
    AuditLog,
    CatalogueStore,
    DecisionReads,
    Journal,
    Ledger,
    LoopMemory,
    OverrideStore,
    TokenStore,
)


@dataclass(frozen=True)
class Books:
    """All ports of one store."""

    world: str
    journal: Journal
    decisions: DecisionReads
    memory: LoopMemory
    ledger: Ledger
    overrides: OverrideStore
    catalogues: CatalogueStore
    tokens: TokenStore
    audit: AuditLog


def books_in_memory() -> Books:
    journal, audit = MemoryJournal("world-1"), MemoryAuditLog()
    return Books(
        world="world-1",
        journal=journal,
        decisions=journal,
        memory=MemoryLoopMemory(),
        ledger=MemoryLedger(),
        overrides=MemoryOverrides(audit),
        catalogues=MemoryCatalogues(),
        tokens=MemoryTokens(),
        audit=audit,
    )


def books_of(store: Store) -> Books:
    return Books(
        world=store.world.name,
        journal=store.journal,
        decisions=store.decisions,
        memory=store.memory,
        ledger=store.ledger,
        overrides=store.overrides,
        catalogues=store.catalogues,
        tokens=store.tokens,
        audit=store.audit,
    )
