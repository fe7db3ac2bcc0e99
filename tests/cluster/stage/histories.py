"""Every lane each pod was in, one after the other: what flickered is seen, and what never was."""

import asyncio
from types import TracebackType
from typing import Self

import aiohttp

from controlplane.domain import marks
from tests.cluster.api import Api, Manifest, RefusedError
from tests.cluster.stage.lanes import LANE


class Histories:
    """Follows the pods of a namespace, and notes what must never be."""

    def __init__(self, api: Api, namespace: str) -> None:
        self._api = api
        self._path = f"/api/v1/namespaces/{namespace}/pods"
        self.lanes: dict[str, list[str]] = {}  # pod -> lanes, each change once
        self.wrong: list[str] = []

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
        (end,) = await asyncio.gather(self._following, return_exceptions=True)
        if error is None and not isinstance(end, asyncio.CancelledError):
            raise AssertionError(f"it followed nobody any more: {end!r}")

    async def _follow(self) -> None:
        while True:
            try:
                async for kind, pod in self._api.watch(self._path):
                    self._look(kind, pod)
            except (RefusedError, aiohttp.ClientError):
                await asyncio.sleep(0.2)  # the API server is away; it lists anew

    def _look(self, kind: str, pod: Manifest) -> None:
        meta = pod["metadata"]
        name, lane = meta["name"], meta.get("labels", {}).get(LANE, "loading")
        seen = self.lanes.setdefault(name, [])
        if seen[-1:] != [lane]:
            seen.append(lane)
        if lane != "serving":
            return
        if marks.WARMED_UP not in meta.get("annotations", {}):
            self.wrong.append(f"{name} serves and was never warmed up")
        if kind != "DELETED" and "deletionTimestamp" in meta:
            self.wrong.append(f"{name} was deleted while it served")
