"""A real daemon in a process of its own, and what it is asked."""

import asyncio
import json
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

SPEED = 20.0  # a cycle of scaling takes a quarter of a second
LIMIT_S = 40.0


@asynccontextmanager
async def served(
    folder: Path, fleet: str, *options: str, speed: float = SPEED
) -> AsyncIterator[str]:
    """Serve a fleet file; gives the address. It must end well when it is told to."""
    file = folder / "fleet.yaml"
    file.write_text(fleet)
    said = ["--config", str(file), "--port", "0", "--speed", str(speed), "--log", "error"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "controlplane", "serve", *said, *options,
        stdout=PIPE, env={**os.environ, "CONTROLPLANE_DATA": str(folder)},
    )  # fmt: skip
    assert process.stdout is not None
    line = await process.stdout.readline()
    found = re.search(r"http://\S+", line.decode())
    assert found is not None
    try:
        yield found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            ended = await process.wait()
    assert ended == 0


def get(address: str, path: str) -> Any:
    """Ask the API."""
    with urlopen(f"{address}/api/v1{path}") as answer:
        return json.load(answer)


async def until(look: Callable[[], Any], good: Callable[[Any], bool]) -> Any:
    """Look until what is seen is good."""
    seen = await asyncio.to_thread(look)
    try:
        async with asyncio.timeout(LIMIT_S):
            while not good(seen):
                await asyncio.sleep(0.1)
                seen = await asyncio.to_thread(look)
    except TimeoutError:
        raise AssertionError(f"it stayed {seen}") from None
    return seen
