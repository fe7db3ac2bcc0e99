"""Engines for a comparison: processes of `controlplane emulate`, on ports of their own."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from controlplane.domain.gateway import Endpoint
from controlplane.domain.quantities import ReplicaName

READY_WITHIN_S = 30.0
ENDS_WITHIN_S = 5.0
ROOM = 1_000_000  # tokens of the KV cache: slots alone shall bound what runs


@asynccontextmanager
async def engines(
    model: str, count: int, slots: int, token_s: float
) -> AsyncIterator[tuple[Endpoint, ...]]:
    """Run so many engines, each token taking so long; they end when this does."""
    async with AsyncExitStack() as stack:
        running = [
            await stack.enter_async_context(_engine(model, slots, token_s)) for _ in range(count)
        ]
        async with asyncio.timeout(READY_WITHIN_S):
            ports = [await _port(process) for process in running]
        yield tuple(
            Endpoint(replica=ReplicaName(f"r{n}"), host="127.0.0.1", port=port, slots=slots)
            for n, port in enumerate(ports)
        )


@asynccontextmanager
async def _engine(
    model: str, slots: int, token_s: float
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-u", "-m", "controlplane", "emulate", "--port", "0", "--model", model),
        *("--slots", str(slots), "--service-s", "0", "--token-s", repr(token_s)),
        *("--cold-factor", "1", "--kv-tokens", str(ROOM), "--abort-on-term"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for us; they end when we say so
    )
    try:
        yield process
    finally:
        await _end(process)


async def _port(process: asyncio.subprocess.Process) -> int:
    if process.stdout is None:
        raise RuntimeError("load: an engine has no output")
    said = (await process.stdout.readline()).decode()
    if not said:
        raise OSError("load: an emulated engine ended before it listened")
    return int(said.rpartition(":")[2])


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(ENDS_WITHIN_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
