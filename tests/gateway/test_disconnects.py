"""Clients that leave in every way at every moment: no slot is lost, whatever their number."""

import asyncio
import random
from pathlib import Path

import pytest

from controlplane.domain.policies import BreakerPolicy
from tests.gateway.engine import Engine
from tests.gateway.running import (
    CHAT,
    OPEN,
    Front,
    Running,
    a_model,
    a_plan,
    ask,
    call,
    endpoint,
    running,
)

NEVER = BreakerPolicy(failures=None)  # many resets in a row are what is wanted
HOW = ("at-once", "sleep=0.02", "sleep=0.2", "stream=5", "stream", "reset")
KEYS = ("key-high", "key-medium", "key-low")


async def leave_at_random(run: Running, rounds: int, at_once: int) -> None:
    chance = random.Random(7)

    async def one() -> None:
        body = b"x" * chance.choice([0, 9, 9999])
        made = await call(run.port, how=chance.choice(HOW), key=chance.choice(KEYS), body=body)
        await asyncio.sleep(chance.choice([0, 0, 0.005, 0.05]))
        chance.choice([made.fin, made.rst])()

    for _ in range(rounds):
        await asyncio.gather(*(one() for _ in range(at_once)))
        OPEN[:] = [made for made in OPEN if not made.writer.transport.is_closing()]


async def nothing_is_lost(run: Running, engine: Engine, most: int) -> None:
    """Counters are back at zero, add up, and every slot is there for the next."""
    await run.quiet()
    sums = run.gateway.counts.sums()[CHAT]
    assert sum(t.admitted for t in sums) == sum(t.ended for t in sums)
    assert all(t.arrived == t.admitted + t.left + sum(t.refused.values()) for t in sums)
    assert most / 2 < sum(t.arrived for t in sums) <= most
    engine.release.set()
    assert [(await ask(run.port)).status for _ in range(8)] == [200] * 8


async def test_counters_return_to_zero_after_random_disconnects(
    tmp_path: Path, front: Front
) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine, 4), breaker=NEVER)), **front) as run,
    ):
        await leave_at_random(run, rounds=40, at_once=25)
        await nothing_is_lost(run, engine, most=1000)


@pytest.mark.slow
@pytest.mark.timeout(1500)
async def test_a_hundred_thousand_random_disconnects_lose_no_slot(tmp_path: Path) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine, 16), breaker=NEVER))) as run,
    ):
        await leave_at_random(run, rounds=1000, at_once=100)
        await nothing_is_lost(run, engine, most=100_000)
