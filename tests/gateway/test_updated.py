"""A plan that was put in force is in force: whoever comes after that is served by it."""

import asyncio
import os
import signal
from pathlib import Path

from tests.gateway.engine import Engine
from tests.gateway.running import Front, a_model, a_plan, ask, endpoint, running


async def test_an_update_returns_when_the_workers_serve_by_it(tmp_path: Path, front: Front) -> None:
    async with Engine() as engine, running(tmp_path, a_plan(), **front) as run:
        (worker,) = run.gateway.pids
        os.kill(worker, signal.SIGSTOP)
        updating = asyncio.create_task(run.gateway.update(a_plan(a_model(endpoint(engine)))))
        done, _ = await asyncio.wait([updating], timeout=0.3)
        os.kill(worker, signal.SIGCONT)
        assert not done

        await updating
        assert (await ask(run.port)).status == 200
        await run.quiet()


async def test_a_worker_that_hangs_keeps_no_update_for_ever(tmp_path: Path) -> None:
    async with Engine() as engine, running(tmp_path, a_plan(), proxy=True) as run:
        (worker,) = run.gateway.pids
        os.kill(worker, signal.SIGSTOP)
        try:
            async with asyncio.timeout(20):
                await run.gateway.update(a_plan(a_model(endpoint(engine))))
        finally:
            os.kill(worker, signal.SIGCONT)
        assert (await ask(run.port)).status == 200
        await run.quiet()
