"""The re-plan in a process of its own, so that the daemon's event loop never waits for it.

The process is spawned (a fork would copy the daemon's threads and sockets) at the first question
and imports the solver there, so the daemon itself never carries it.
"""

import asyncio
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from multiprocessing import get_context

from controlplane.decide.placement.instance import Instance
from controlplane.decide.placement.plan import Plan
from controlplane.ports import UnavailableError


def _replan(instance: Instance) -> Plan:
    plan = import_module("controlplane.adapters.solver.replan").replan(instance)
    if not isinstance(plan, Plan):
        raise TypeError(f"the solver gave a {type(plan).__name__}, not a Plan")
    return plan


class SolverProcess:
    """Plans instances one after another in a worker process."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._pool: ProcessPoolExecutor | None = None

    async def replan(self, instance: Instance) -> Plan:
        """Give a plan; UnavailableError when the worker died (the next question starts another)."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn"))
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, _replan, instance)
        except BrokenProcessPool as dead:
            self._pool = None
            raise UnavailableError("the solver's worker process died") from dead

    async def close(self) -> None:
        """End the worker."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)
