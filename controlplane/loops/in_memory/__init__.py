"""The store in memory: the same ports, nothing on disk. For simulations, benchmarks and tests.

It behaves as the database does; one suite of tests runs against both.
"""

from controlplane.loops.in_memory.books import (
    MemoryAuditLog,
    MemoryCatalogues,
    MemoryLedger,
    MemoryLoopMemory,
    MemoryOverrides,
    MemoryTokens,
)
from controlplane.loops.in_memory.journal import MemoryJournal
from controlplane.loops.in_memory.leadership import SoleLeader

__all__ = [
    "MemoryAuditLog",
    "MemoryCatalogues",
    "MemoryJournal",
    "MemoryLedger",
    "MemoryLoopMemory",
    "MemoryOverrides",
    "MemoryTokens",
    "SoleLeader",
]
