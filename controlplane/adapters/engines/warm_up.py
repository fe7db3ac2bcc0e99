"""The warm-up: real prompts, as many at once as the engine has slots, until it is as fast as it is.

The rule: the batch is answered, and the median latency of the last `WINDOW` answers is within
`STEADY` of that of the `WINDOW` before them. An engine that answered its batch and still grows
faster gets more prompts until then, or until the time is up: then what was answered counts, if
every slot had its answer, and a note says that latency was not steady. Any answer that is no good
ends it; the next cycle may begin again.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import msgspec
from aiohttp import ClientSession

from controlplane.adapters.engines.calls import Answer, NoAnswerError, ask, served_name, url
from controlplane.clock import stopwatch
from controlplane.ports import EngineAt

WINDOW = 5
STEADY = 0.25


@dataclass(slots=True, kw_only=True)
class Batch:
    """One engine's warm-up under way."""

    engine: EngineAt
    requests: int
    slots: int
    limit_s: float
    latencies: list[float] = field(default_factory=list)
    sent: int = 0
    failed: str = ""

    @property
    def steady(self) -> bool:
        """Say whether the last answers took as long as those before them."""
        if len(self.latencies) < 2 * WINDOW:
            return True  # a batch so small was set so; there is nothing to compare
        last = median(self.latencies[-WINDOW:])
        before = median(self.latencies[-2 * WINDOW : -WINDOW])
        return abs(last - before) <= STEADY * before

    @property
    def complete(self) -> bool:
        """Say whether nothing more need be sent."""
        return bool(self.failed) or (len(self.latencies) >= self.requests and self.steady)

    @property
    def next_wanted(self) -> bool:
        """Say whether a further prompt should be sent: of the batch, or until it is steady."""
        return not self.complete and (self.sent < self.requests or not self.steady)


async def run(session: ClientSession, batch: Batch, told: Callable[[str], None]) -> str:
    """Warm an engine up; give the note of a success, or raise `NotWarmError`."""
    try:
        async with asyncio.timeout(batch.limit_s):
            await _send(session, batch, told)  # the first one alone: is there anybody?
            async with asyncio.TaskGroup() as group:
                for _ in range(min(batch.slots, batch.requests)):
                    group.create_task(_keep_sending(session, batch, told))
    except TimeoutError:
        pass
    if batch.failed:
        raise NotWarmError(batch.failed)
    answered = len(batch.latencies)
    if answered < min(batch.slots, batch.requests):
        raise NotWarmError(
            f"warm-up: {answered} of {batch.requests} prompts answered within {batch.limit_s:g} s"
        )
    if batch.complete:
        return ""
    return f"latency was not steady within {batch.limit_s:g} s, after {answered} prompts"


class NotWarmError(Exception):
    """The warm-up did not succeed; its text says why."""


async def _keep_sending(session: ClientSession, batch: Batch, told: Callable[[str], None]) -> None:
    while batch.next_wanted:
        await _send(session, batch, told)


async def _send(session: ClientSession, batch: Batch, told: Callable[[str], None]) -> None:
    number, engine = batch.sent, batch.engine
    batch.sent += 1
    warm_up = engine.serving.warm_up
    started = stopwatch()
    beyond_s = 2.0 * batch.limit_s  # the limit is of all of them together: see `run`
    told(f"warm-up: {len(batch.latencies)} of {batch.requests} prompts answered")
    try:
        answer = await ask(session, url(engine, warm_up.path), beyond_s, post=_body(engine, number))
    except NoAnswerError as cause:
        batch.failed = batch.failed or f"warm-up: {cause}"
        return
    wrong = _no_good(answer, warm_up.path)
    if wrong:
        batch.failed = batch.failed or f"warm-up: {wrong}"
        return
    batch.latencies.append(stopwatch() - started)


def _body(engine: EngineAt, number: int) -> bytes:
    warm_up = engine.serving.warm_up
    if warm_up.body is not None:
        return warm_up.body.encode()
    prompt = warm_up.prompts[number % len(warm_up.prompts)] if warm_up.prompts else "Hello"
    said: dict[str, Any] = {"prompt": prompt}
    if warm_up.path.endswith("/chat/completions"):
        said = {"messages": [{"role": "user", "content": prompt}]}
    return msgspec.json.encode(
        {"model": served_name(engine), **said, "max_tokens": warm_up.max_tokens}
    )


def _no_good(answer: Answer, path: str) -> str:
    """Say what is wrong with an answer; nothing, where it is a generation."""
    if answer.status != 200:
        return f"{path} answers {answer.status}"
    try:
        said: Any = msgspec.json.decode(answer.body)
    except msgspec.DecodeError:
        start = " ".join(answer.body[:60].decode("utf-8", "replace").split())
        return f"{path} answers 200 and no JSON: {start}"
    if isinstance(said, dict) and "choices" in said and not said["choices"]:
        return f"{path} answers without a choice"
    return ""
