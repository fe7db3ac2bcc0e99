"""Computes what is being watched, once per tick for everybody, and numbers what changed.

Watchers never get a queue: a picture that nobody took yet is replaced by the newer one.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

import structlog

from controlplane.clock import heard, wall
from controlplane.http.frame import Glance

log = structlog.get_logger(__name__)

LINE_ENDS = re.compile(r"\r\n|\r|\n")
TICK_S = 1.0
UNWATCHED_TICK_S = 15.0
WOKEN_AT_ONCE = 10


class Watched(NamedTuple):
    """One thing that somebody watches. Equal ones are computed together."""

    event: str
    as_html: bool
    glance: Glance


class Picture(NamedTuple):
    """The newest state of a watched thing; `number` grows with every change of anything."""

    number: int
    text: str
    digest: bytes
    frame: bytes  # as it goes over the wire: written once, however many watch


def framed(text: str, event: str, number: str) -> bytes:
    """Write an event of a stream."""
    data = "".join(f"data: {line}\r\n" for line in LINE_ENDS.split(text))
    return f"id: {number}\r\nevent: {event}\r\n{data}\r\n".encode()


Compute: TypeAlias = Callable[[Watched], Awaitable[str]]


class Broadcast:
    """The pictures of everything that is watched."""

    def __init__(self, compute: Compute, idle: Callable[[], Awaitable[object]]) -> None:
        """`compute` gives a picture's text; `idle` is called when nobody watches."""
        self._compute = compute
        self._idle = idle
        self._watchers: Counter[Watched] = Counter()
        self._pictures: dict[Watched, Picture] = {}
        self._number = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._wanted = asyncio.Event()
        self._failing: set[Watched] = set()
        self.boot = f"{int(wall() * 1000):x}"  # numbers start anew with each process
        self.closed = False

    @property
    def watchers(self) -> int:
        """How many watched things there are, counted once per watcher."""
        return self._watchers.total()

    def watch(self, things: Iterable[Watched]) -> None:
        """Begin to compute these; a picture taken by nobody for long is computed anew."""
        self._watchers.update(things)
        self._wanted.set()

    def unwatch(self, things: Iterable[Watched]) -> None:
        """Stop for one watcher; what nobody else watches is forgotten."""
        self._watchers.subtract(things)
        self._watchers = +self._watchers
        for thing in self._pictures.keys() - self._watchers.keys():
            del self._pictures[thing]

    def pictures(self, things: Iterable[Watched]) -> Mapping[Watched, Picture]:
        """Give the newest pictures of these, where there are any."""
        return {thing: self._pictures[thing] for thing in things if thing in self._pictures}

    async def tick(self) -> None:
        """Compute everything that is watched and wake the watchers, some at a time."""
        for thing in list(self._watchers):
            await self._refresh(thing)
        waiting, self._waiting = self._waiting, []
        for number, waiter in enumerate(waiting, start=1):
            _wake(waiter)
            if number % WOKEN_AT_ONCE == 0:  # two hundred at once would hold up every loop
                await asyncio.sleep(0)

    async def ticked(self) -> None:
        """Wait for the next tick, or for the end."""
        if not self.closed:
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter

    def close(self) -> None:
        """Let every watcher end."""
        self.closed = True
        for waiter in self._waiting:
            _wake(waiter)
        self._wanted.set()

    async def run(self) -> None:
        """Tick for as long as the application lives."""
        while not self.closed:
            self._wanted.clear()
            if self._watchers:
                await self.tick()
                pause = TICK_S
            else:
                await self._idle()
                pause = UNWATCHED_TICK_S
            await heard(self._wanted, pause)  # a new watcher need not wait for the next tick

    async def _refresh(self, thing: Watched) -> None:
        """Compute one; when that fails it is said once, and the old picture stays and ages."""
        try:
            self._store(thing, await self._compute(thing))
        except Exception:
            if thing not in self._failing:
                log.exception("feed cannot compute", what=thing.event)
            self._failing.add(thing)
        else:
            self._failing.discard(thing)

    def _store(self, thing: Watched, text: str) -> None:
        digest = blake2b(text.encode(), digest_size=12).digest()
        held = self._pictures.get(thing)
        if thing in self._watchers and (held is None or held.digest != digest):
            self._number += 1
            frame = framed(text, thing.event, f"{self.boot}-{self._number}")
            self._pictures[thing] = Picture(self._number, text, digest, frame)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():  # it may have left in the meantime
        waiter.set_result(None)
