"""Every size a Deployment has had since somebody began to look: what flickered is seen, too."""

import asyncio
from types import TracebackType
from typing import Self

import aiohttp

from controlplane.clock import stopwatch
from tests.cluster.api import Api, RefusedError
from tests.cluster.stage.waiting import until


class Sizes:
    """Follows `spec.replicas` of one Deployment."""

    def __init__(self, api: Api, namespace: str, name: str) -> None:
        self._api = api
        self._path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
        self._name = name
        self.seen: list[int] = []

    async def __aenter__(self) -> Self:
        self._following = asyncio.create_task(self._follow())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._following.cancel()
        await asyncio.gather(self._following, return_exceptions=True)

    @property
    def now(self) -> int | None:
        """Give the size it has; None while there is no such Deployment."""
        return self.seen[-1] if self.seen else None

    async def reach(self, count: int, within_s: float) -> float:
        """Await a size; give how long that took, in seconds."""
        began = stopwatch()

        async def there() -> bool:
            return self.now == count

        await until(there, within_s, lambda: f"{self._name} had the sizes {self.seen}, not {count}")
        return stopwatch() - began

    async def _follow(self) -> None:
        named = {"fieldSelector": f"metadata.name={self._name}"}
        while True:
            try:
                async for _, manifest in self._api.watch(self._path, **named):
                    size = manifest["spec"]["replicas"]
                    if size != self.now:
                        self.seen.append(size)
            except (RefusedError, aiohttp.ClientError):
                await asyncio.sleep(0.2)
