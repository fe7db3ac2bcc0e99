"""Workers that share slots through a real Valkey, and what happens when it dies (A5)."""

import asyncio
from pathlib import Path

from tests.adapters.redis.server import Valkey
from tests.gateway.engine import Engine
from tests.gateway.running import Front, a_model, a_plan, ask, call, endpoint, running

WIRED = "controlplane.cli.admission_worker"


async def test_a5_valkey_dies_under_load_no_request_fails_and_all_is_well_when_it_returns(
    tmp_path: Path, front: Front
) -> None:
    async with Valkey() as valkey, Engine() as engine:
        plan = a_plan(a_model(endpoint(engine, 4), queue_bounds={}))
        options = {"workers": 2, "shared": valkey.url, "worker": WIRED, **front}
        async with running(tmp_path, plan, **options) as run:
            over, statuses = asyncio.Event(), list[int]()

            async def load() -> None:
                while not over.is_set():
                    statuses.append((await ask(run.port, how="sleep=0.01")).status)

            clients = [asyncio.create_task(load()) for _ in range(8)]
            await run.until(lambda: run.gateway.counts.shared_s[0] > 5)
            most_shared = engine.most
            await valkey.kill()
            await run.until(lambda: run.gateway.counts.degraded)
            seen = len(statuses)
            await run.until(lambda: len(statuses) > seen + 40)
            await valkey.start()
            await run.until(lambda: not run.gateway.counts.degraded)
            seen = len(statuses)
            await run.until(lambda: len(statuses) > seen + 40)
            over.set()
            await asyncio.gather(*clients)
            assert set(statuses) == {200}
            # Alone each of the two would fill all four slots. An engine may still be ending a
            # request whose slot is free again, so it is not held to exactly four.
            assert most_shared < 8
            assert run.gateway.ready
            await run.quiet()


async def test_two_workers_without_anything_to_share_by_take_halves(
    tmp_path: Path, front: Front
) -> None:
    async with Engine() as engine:
        plan = a_plan(a_model(endpoint(engine, 4)))
        async with running(tmp_path, plan, workers=2, **front) as run:
            held = [await call(run.port, how="hold") for _ in range(12)]
            await run.until(lambda: sum(run.counted("queued")) + sum(run.counted("running")) == 12)
            assert engine.most <= 4
            engine.release.set()
            assert {(await made.reply()).status for made in held} == {200}
            await run.quiet()
