"""An engine in miniature that does what the test says: answers late, streams, resets, hangs."""

import asyncio
from collections import Counter
from types import TracebackType
from typing import Self

from aiohttp import web


class Engine:
    """Counts what it got; `hold` keeps every answer back until it is set."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.running = 0
        self.most = 0
        self.port = 0
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.release = asyncio.Event()
        self.arrived = asyncio.Event()
        self.status = 200
        self.said: dict[str, str] = {}
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        await self.end()

    async def end(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        how = request.headers.get("x-how", "at-once")
        self.seen[request.headers.get("x-class", how)] += 1
        self.headers.append(dict(request.headers))
        self.paths.append(request.path_qs)
        self.running += 1
        self.most = max(self.most, self.running)
        self.arrived.set()
        try:
            return await self._answer(request, how)
        except ConnectionError:  # the client left; there is nobody to tell
            return web.Response()
        finally:
            self.running -= 1

    async def _answer(self, request: web.Request, how: str) -> web.StreamResponse:
        if how == "hold":
            await self.release.wait()
        elif how == "hang":
            await asyncio.sleep(3600)
        elif how == "reset":
            await request.read()
            if request.transport is not None:
                request.transport.abort()
        elif how.startswith("sleep="):
            await asyncio.sleep(float(how[6:]))
        elif how.startswith("stream"):
            return await self._stream(request, how)
        body = await request.read()
        return web.json_response({"got": len(body)}, status=self.status, headers=self.said)

    async def _stream(self, request: web.Request, how: str) -> web.StreamResponse:
        """`stream` until released; `stream=N` N chunks 10 ms apart, `stream=N/S` S seconds."""
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        count, _, gap = how.partition("=")[2].partition("/")
        chunks, gap_s = int(count) if count else None, float(gap or "0.01")
        n = 0
        while chunks is None or n < chunks:
            await answer.write(b"data: token\n\n")
            n += 1
            if chunks is None and self.release.is_set():
                break
            await asyncio.sleep(gap_s)
        await answer.write(b"data: [DONE]\n\n")
        await answer.write_eof()
        return answer
