"""Computed once for everybody who looks in the same moment.

Ten open pages ask for the same fleet; it is computed once a tick. Concurrent callers wait for the
one computation under way; a failure is given to all of them and is not kept.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

T = TypeVar("T")
S = TypeVar("S")
KEPT = 256  # keys; the oldest go first


class Shared:
    """Results by name, each kept for a moment of real time."""

    def __init__(self) -> None:
        """Start with nothing computed."""
        self._results: dict[str, tuple[float, asyncio.Future[object]]] = {}
        self._things: dict[str, object] = {}
        self._derived: dict[str, tuple[object, object]] = {}

    async def once(self, name: str, seconds: float, compute: Callable[[], Awaitable[T]]) -> T:
        """Give the result of this name; compute it when there is none younger than `seconds`."""
        now = asyncio.get_running_loop().time()
        held = self._results.get(name)
        if held is None or now - held[0] > seconds or _failed(held[1]):
            held = (now, asyncio.ensure_future(_as_object(compute)))
            self._results.pop(name, None)
            self._results[name] = held
            while len(self._results) > KEPT:
                self._results.pop(next(iter(self._results)))
        # Shielded: one caller who leaves must not take the result from the others.
        return cast(T, await asyncio.shield(held[1]))

    def thing(self, name: str, make: Callable[[], T]) -> T:
        """Give what is kept under this name for good; make it the first time."""
        if name not in self._things:
            self._things[name] = make()
        return cast(T, self._things[name])

    def derived(self, name: str, source: S, derive: Callable[[S], T]) -> T:
        """Give what follows from `source`; derive it again only for another object."""
        held = self._derived.get(name)
        if held is None or held[0] is not source:
            held = (source, derive(source))
            self._derived[name] = held
        return cast(T, held[1])

    def forget(self, name: str) -> None:
        """Compute it anew the next time: something it shows was changed."""
        self._results.pop(name, None)


async def _as_object(compute: Callable[[], Awaitable[T]]) -> object:
    return await compute()


def _failed(result: asyncio.Future[object]) -> bool:
    return result.done() and (result.cancelled() or result.exception() is not None)
