"""The worker process: the same plan, while the event loop goes on."""

import asyncio

import pytest

from controlplane.adapters.solver.replan import replan
from controlplane.adapters.solver.worker import SolverProcess
from controlplane.ports import UnavailableError
from tests.adapters.solver.instances import named


async def test_a_plan_from_the_worker_is_the_plan_and_the_loop_is_never_held_up() -> None:
    solver = SolverProcess()
    beats = 0

    async def heartbeat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1

    beat = asyncio.create_task(heartbeat())
    try:
        plan = await solver.replan(named("S85"))
    finally:
        beat.cancel()
        await solver.close()
    assert plan == replan(named("S85"))
    assert beats > 10  # starting the worker and solving take far longer than 0.1 s


async def test_a_worker_that_dies_is_unavailable_once_and_then_replaced() -> None:
    solver = SolverProcess()
    try:
        await solver.replan(named("S55"))
        assert solver._pool is not None
        for process in list(solver._pool._processes.values()):
            process.kill()
        with pytest.raises(UnavailableError, match="worker process died"):
            await solver.replan(named("S55"))
        assert (await solver.replan(named("S55"))).proven
    finally:
        await solver.close()
