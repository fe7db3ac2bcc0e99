"""Many requests held at once, and what they take."""

import asyncio
import resource
from collections.abc import Iterable
from pathlib import Path

from controlplane.domain.gateway import GatewayPlan
from controlplane.domain.priorities import Priority
from tests.gateway.engine import Engine
from tests.gateway.running import Call, Running, a_model, a_plan, call, endpoint

CROWD, AT_ONCE = 10_000, 100
FILES = CROWD + 2000  # a socket for each client, and as many for Envoy, which inherits the limit
SLOTS = 500


def enough_files() -> str:
    """Raise our limit; say why it cannot be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        return f"{FILES} open files are needed, and {hard} allowed"
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, FILES), hard))
    return ""


def a_crowd_plan(engine: Engine | None = None) -> GatewayPlan:
    """Nobody serves, so that all are held, or this engine does."""
    serving = () if engine is None else (endpoint(engine, SLOTS),)
    return a_plan(a_model(*serving, queue_bounds={Priority.HIGH: CROWD}))


async def crowd(run: Running) -> list[Call]:
    """Give so many requests, each of them held."""
    held: list[Call] = []
    while len(held) < CROWD:
        held += await asyncio.gather(*(call(run.port) for _ in range(AT_ONCE)))
    await run.until(lambda: run.counted("queued") == [CROWD, 0, 0], within_s=100)
    return held


def memory_kib(pids: Iterable[int]) -> float:
    """What processes hold in memory."""
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * resource.getpagesize() / 1024
