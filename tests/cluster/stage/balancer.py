"""Requests through the model's Service: an open-loop load that goes where the EndpointSlice says.

What a balancer does, in little: each request goes to the serving endpoint with the fewest of ours
in flight. So a promoted replica is used as soon as its address stands in the slice, and none after.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import aiohttp

from tests.cluster.api import Api, Manifest, RefusedError
from tests.cluster.stage.waiting import until

_BODY = {"model": "chat", "prompt": "hello", "max_tokens": 4}


@dataclass
class Balancer:
    """Sends requests and keeps count of how each ended."""

    api: Api
    namespace: str
    service: str = "chat"
    endings: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)  # endpoint -> requests sent to it
    generated: dict[str, int] = field(default_factory=dict)  # endpoint -> before our first request
    endpoints: set[str] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._busy: Counter[str] = Counter()
        self._sent: set[asyncio.Task[None]] = set()
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        self._following = asyncio.create_task(self._follow())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._following.cancel()
        for task in self._sent:
            task.cancel()
        await asyncio.gather(self._following, *self._sent, return_exceptions=True)
        await self._session.close()

    async def load(self, per_second: float, seconds: float) -> None:
        """Send so many requests a second, whatever becomes of them."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number in range(int(per_second * seconds)):
            await asyncio.sleep(max(0.0, began + number / per_second - loop.time()))
            self.send()

    def send(self, **more: Any) -> asyncio.Task[None]:
        """Send one request."""
        task = asyncio.create_task(self._one({**_BODY, **more}))
        self._sent.add(task)
        task.add_done_callback(self._sent.discard)
        return task

    async def served(self, count: int, within_s: float, *, exactly: bool = False) -> None:
        """Await that at least so many endpoints serve, or just so many."""

        async def enough() -> bool:
            there = len(self.endpoints)
            return there == count if exactly else there >= count

        await until(enough, within_s, lambda: f"{self.endpoints} serve, not {count}")

    async def _one(self, body: Manifest) -> None:
        if not self.endpoints:
            self.endings["none"] += 1
            return
        where = min(self.endpoints, key=lambda e: (self._busy[e], e))
        self._busy[where] += 1
        self.reached[where] += 1
        try:
            if where not in self.generated:
                self.generated[where] = 0
                self.generated[where] = await self._generations(where)
            async with self._session.post(
                f"http://{where}:8000/v1/completions", json=body
            ) as answer:
                await answer.read()
                self.endings[str(answer.status)] += 1
        except aiohttp.ClientError as error:
            self.endings[type(error).__name__] += 1
        finally:
            self._busy[where] -= 1

    async def _generations(self, where: str) -> int:
        """Ask an engine how many generations it has come to the end of."""
        async with self._session.get(f"http://{where}:8000/emulation/state") as answer:
            return int((await answer.json())["succeeded"])

    async def _follow(self) -> None:
        path = f"/apis/discovery.k8s.io/v1/namespaces/{self.namespace}/endpointslices"
        chosen = f"kubernetes.io/service-name={self.service}"
        while True:
            slices: dict[str, set[str]] = {}
            try:
                async for kind, seen in self.api.watch(path, labelSelector=chosen):
                    slices[seen["metadata"]["name"]] = (
                        set() if kind == "DELETED" else _serving(seen)
                    )
                    self.endpoints = set().union(*slices.values())
            except (RefusedError, aiohttp.ClientError):
                await asyncio.sleep(0.2)  # the API server is away; what was known stays


def _serving(endpoint_slice: Manifest) -> set[str]:
    return {
        address
        for endpoint in endpoint_slice.get("endpoints") or ()
        if endpoint["conditions"].get("ready")
        for address in endpoint["addresses"]
    }
