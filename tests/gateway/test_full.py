"""Engines that have more than they can take, behind a real Envoy and without one."""

import asyncio
from pathlib import Path

import msgspec

from tests.gateway.engine import Engine
from tests.gateway.running import Front, a_model, a_plan, call, endpoint, running


async def test_while_every_engine_has_too_much_who_comes_waits_and_is_served_when_there_is_room(
    tmp_path: Path, front: Front
) -> None:
    """Nobody is sent to a balancer that has nobody left to choose."""
    async with Engine() as engine:
        at = endpoint(engine, 2)
        full = msgspec.structs.replace(at, taking=False, slots=2)
        async with running(tmp_path, a_plan(a_model(at)), **front) as run:
            held = [await call(run.port, how="hold") for _ in range(2)]
            await run.until(lambda: engine.running == 2)
            await run.gateway.update(a_plan(a_model(full)))
            await run.until(lambda: run.gateway.plan.models[0].serving == (full,))
            waiting = await call(run.port)
            await run.until(lambda: run.counted("queued") == [1, 0, 0])
            engine.release.set()
            assert {(await made.reply()).status for made in held} == {200}
            await run.until(lambda: run.counted("ended") == [2, 0, 0])
            await asyncio.sleep(0.3)
            assert run.counted("queued") == [1, 0, 0]  # two slots are free, and nobody takes them

            await run.gateway.update(a_plan(a_model(at)))
            assert (await waiting.reply()).status == 200
            await run.quiet()
