"""Requests at a steady rate, open loop: each leaves when due, and its time counts from then."""

import asyncio
import time
from typing import cast

HEAD = "POST {path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer key-high\r\n"
REQUEST = HEAD + "content-length: 2\r\n\r\n{{}}"


class Connection(asyncio.Protocol):
    """One connection: a request at a time, answered by a body of `{}`."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.answered: asyncio.Future[bool] | None = None
        self._got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is none by class

    def ask(self, request: bytes) -> asyncio.Future[bool]:
        """Send; the future says whether it was answered with 200."""
        assert self.transport is not None
        self._got = b""
        self.answered = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self.answered

    def data_received(self, data: bytes) -> None:
        self._got += data
        good = self._got.startswith(b"HTTP/1.1 200")
        if self.answered is not None and (not good or self._got.endswith(b"{}")):
            self.answered.set_result(good)
            self.answered = None

    def connection_lost(self, _error: Exception | None) -> None:
        if self.answered is not None:
            self.answered.set_result(False)
            self.answered = None


class Pace:
    """Asks one gateway for one model."""

    def __init__(self, port: int, path: str) -> None:
        self._port, self._request = port, REQUEST.format(path=path).encode()
        self._idle: list[Connection] = []
        self.failed = 0

    async def spent(self, per_s: float, seconds: float) -> list[float]:
        """Give how long each of these requests took, in seconds since it was due."""
        began, found = time.perf_counter(), list[float]()
        tasks = []
        for number in range(int(per_s * seconds)):
            due = began + number / per_s
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(self._one(due, found)))
        await asyncio.gather(*tasks)
        return found

    async def _one(self, due: float, found: list[float]) -> None:
        if self._idle:
            made = self._idle.pop()
        else:
            loop = asyncio.get_running_loop()
            _, made = await loop.create_connection(Connection, "127.0.0.1", self._port)
        if await made.ask(self._request):
            found.append(time.perf_counter() - due)
            self._idle.append(made)
        else:
            self.failed += 1

    def close(self) -> None:
        for made in self._idle:
            assert made.transport is not None
            made.transport.close()


def p99(spent: list[float]) -> float:
    """Give the 99th percentile."""
    return sorted(spent)[int(0.99 * len(spent))]


def spread(rounds: list[float]) -> str:
    """Say between which the rounds lay, in milliseconds."""
    return f"{min(rounds) * 1e3:.1f} to {max(rounds) * 1e3:.1f}"
