"""Following objects of a kind as they change, through outages too."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias

import aiohttp

from tests.cluster.api import Api, Manifest, RefusedError

AGAIN_S = 0.2
Look: TypeAlias = Callable[[str, Manifest], None]  # kind of event and object in


class Following:
    """Looks at each event of a path within an `async with`; one that no longer does is a fault."""

    def __init__(self, api: Api, path: str, look: Look, **chosen: str) -> None:
        """`chosen` are the parameters of the watch."""
        self._api, self._path, self._chosen = api, path, chosen
        self._taken_in = look

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
                async for kind, seen in self._api.watch(self._path, **self._chosen):
                    self._taken_in(kind, seen)
            except (RefusedError, aiohttp.ClientError):
                await asyncio.sleep(AGAIN_S)  # the API server is away; it lists anew
