"""The engine behind its face: a queue, slots, a KV cache, and generations that take their time."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from controlplane.emulation.book import Book
from controlplane.emulation.faults import FaultBox
from controlplane.emulation.service_times import ServiceTimes
from controlplane.emulation.spec import EngineSpec


class OverloadedError(Exception):
    """The queue is full."""


class FailedError(Exception):
    """The generation broke."""


@dataclass(slots=True, eq=False)
class Generation:
    """One request, from its arrival to its last token."""

    prompt_tokens: int
    max_tokens: int
    arrived_at: float
    turn: asyncio.Future[None]
    seconds: float = 0.0  # how long it will take
    started_at: float | None = None
    produced: int = 0
    task: asyncio.Task[Any] | None = None

    def tokens_at(self, now: float) -> int:
        """Say how much of the KV cache it holds, without a step for every token."""
        if self.started_at is None:
            return 0
        share = (now - self.started_at) / self.seconds if self.seconds > 0 else 1.0
        return self.prompt_tokens + int(min(1.0, share) * self.max_tokens)


class Engine:
    """Generates for as many requests at once as it has slots and room; the others wait."""

    def __init__(self, spec: EngineSpec, book: Book, faults: FaultBox) -> None:
        """Make a cold one that has not loaded its model."""
        self.spec, self.book, self.faults = spec, book, faults
        self.loaded = False
        self.sleep_level: int | None = None
        self._times = ServiceTimes(spec)
        self._waiting: deque[Generation] = deque()
        self._running: set[Generation] = set()

    @property
    def waiting(self) -> int:
        """Say how many wait for a slot."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """Say how many are being generated."""
        return len(self._running)

    @property
    def asleep(self) -> bool:
        """Say whether its weights are gone from the device."""
        return self.sleep_level is not None

    @property
    def tokens_held(self) -> int:
        """Say how many tokens are in the KV cache."""
        now = _now()
        return min(self.spec.kv_room, sum(one.tokens_at(now) for one in self._running))

    @property
    def kv_usage(self) -> float:
        """Say how full the KV cache is, from 0 to 1."""
        return self.tokens_held / self.spec.kv_room

    async def generate(
        self, prompt_tokens: int, max_tokens: int, *, at_once: bool
    ) -> AsyncIterator[int]:
        """Give the number of tokens done, after each token; `at_once`: after the last one only.

        Closing the iterator, at any moment, frees the slot.
        """
        spec, book, began = self.spec, self.book, _now()
        book.received += 1
        if spec.queue_limit is not None and self.waiting >= spec.queue_limit and not self._room(0):
            book.refused += 1
            raise OverloadedError
        one = Generation(prompt_tokens, max_tokens, began, asyncio.Future())
        one.task = asyncio.current_task()
        self._waiting.append(one)
        self._admit()
        ending = "abort"
        try:
            await one.turn
            if self._times.chance() < self.faults.now.error_rate:
                book.failed += 1
                ending = "error"
                raise FailedError
            async for done in self._tokens(one, at_once=at_once):
                yield done
            ending = "length"
        finally:
            self._leave(one, ending)

    async def _tokens(self, one: Generation, *, at_once: bool) -> AsyncIterator[int]:
        steps = 1 if at_once else one.max_tokens
        for step in range(1, steps + 1):
            await self._unhung()
            before, due = _now(), (one.started_at or 0.0) + one.seconds * step / steps
            await asyncio.sleep(max(0.0, due - before))
            one.produced = one.max_tokens * step // steps
            if step == 1:
                self.book.observe("ttft", one.seconds / one.max_tokens + self._queued(one))
            elif not at_once:
                self.book.observe("itl", _now() - before)
            yield one.produced

    async def _unhung(self) -> None:
        while self.faults.now.hang:
            await self.faults.changed()

    def sleep(self, level: int, mode: str) -> None:
        """Put it to sleep; under `abort` what is generated or waits ends without an answer."""
        self.sleep_level = level
        if mode == "abort":
            for one in (*self._running, *self._waiting):
                if one.task is not None:
                    one.task.cancel()

    async def wake_up(self) -> None:
        """Wake it: that takes a moment; then who waits has its turn."""
        if self.asleep:
            await asyncio.sleep(self.spec.wake_s)
            self.sleep_level = None
            self._admit()

    def _room(self, tokens: int) -> bool:
        if self.asleep or self.running >= self.spec.slots:
            return False
        return not self._running or self.tokens_held + tokens <= self.spec.kv_room

    def _admit(self) -> None:
        """Give free slots to those who came first."""
        while self._waiting and self._room(self._waiting[0].prompt_tokens):
            one = self._waiting.popleft()
            if one.turn.cancelled():  # its client has left, and it is on its way out
                continue
            one.started_at = _now()
            one.seconds = self._times.draw(one.max_tokens) * self.faults.now.slow
            self._running.add(one)
            one.turn.set_result(None)

    def _leave(self, one: Generation, ending: str) -> None:
        if one in self._running:
            self._running.remove(one)
        elif one in self._waiting:
            self._waiting.remove(one)
        book = self.book
        if ending != "error":
            book.ended[ending] += 1
        book.generation_tokens += one.produced
        if one.started_at is not None and ending == "length":
            now = _now()
            book.prompt_tokens += one.prompt_tokens
            book.inference_s += now - one.started_at
            prefill = one.seconds / one.max_tokens
            book.observe("e2e", now - one.arrived_at)
            book.observe("queue", self._queued(one))
            book.observe("inference", now - one.started_at)
            book.observe("prefill", prefill)
            book.observe("decode", max(0.0, now - one.started_at - prefill))
            book.observe("per_token", (now - one.started_at) / one.max_tokens)
        self._admit()

    def _queued(self, one: Generation) -> float:
        return (one.started_at or one.arrived_at) - one.arrived_at


def _now() -> float:
    return asyncio.get_running_loop().time()
