"""What-if runs beside the daemon: one process at a time, so that the loops keep their core.

A run is a process of its own and not a pool's task, because cancelling must really stop it: the
process is killed, and nothing it did is needed afterwards.
"""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

import msgspec

from controlplane.domain.faults import FaultsError
from controlplane.domain.quantities import ModelName
from controlplane.ports import RunCourse, RunProgress
from controlplane.settings import read
from controlplane.simulation.contenders import contender
from controlplane.simulation.execution import run_scenario
from controlplane.simulation.library import SCENARIOS, shipped_scenarios
from controlplane.simulation.scenario import Scenario

MOST_RUNS = 50  # kept in memory, newest
MOST_QUEUED = 20
POINTS = 400  # of a run's course
LOOK_S = 0.2  # how often the parent looks for news
STEP = 0.005  # of progress, before the child reports again
NICENESS = 10


class WhatIfRuns:
    """Queues runs, runs one at a time, keeps the newest reports. Lives on one event loop."""

    def __init__(self) -> None:
        """Start nothing yet: processes and tasks come with the first run."""
        self._runs: dict[str, RunProgress] = {}
        self._courses: dict[str, Mapping[ModelName, RunCourse]] = {}
        self._started = 0
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._worker: asyncio.Task[None] | None = None
        self._process: SpawnProcess | None = None
        self._running: str | None = None

    async def start(self, scenario: str, policy: str, seed: int) -> RunProgress:
        """Queue a run; ValueError with one sentence when it cannot be."""
        if sum(run.state == "queued" for run in self._runs.values()) >= MOST_QUEUED:
            raise ValueError(f"{MOST_QUEUED} runs are waiting already; cancel some or wait")
        if seed < 0:
            raise ValueError(f"seed: {seed} must be 0 or more")
        await asyncio.to_thread(_check, scenario, policy)
        self._started += 1
        run = RunProgress(
            id=str(self._started), scenario=scenario, policy=policy, seed=seed, state="queued"
        )
        self._put(run)
        self._queue.put_nowait(run.id)
        if self._worker is None:
            self._worker = asyncio.create_task(self._work(), name="what-if")
        return run

    async def runs(self) -> Sequence[RunProgress]:
        """Give all runs, newest first."""
        return tuple(reversed(self._runs.values()))

    async def courses(self, run: str) -> Mapping[ModelName, RunCourse]:
        """Give how a finished run went, by model; nothing where there is none (yet)."""
        return self._courses.get(run, {})

    async def cancel(self, run: str) -> None:
        """Stop a run; the finished ones stay as they are."""
        known = self._runs.get(run)
        if known is None:
            raise ValueError(f"run {run} is not known")
        if known.state not in ("queued", "running"):
            return
        self._put(msgspec.structs.replace(known, state="cancelled"))
        if self._running == run and self._process is not None:
            self._process.kill()

    async def close(self) -> None:
        """Stop everything."""
        if self._worker is not None:
            self._worker.cancel()
            with suppress(asyncio.CancelledError):
                await self._worker
            self._worker = None

    async def _work(self) -> None:
        while True:
            run = await self._queue.get()
            known = self._runs.get(run)
            if known is not None and known.state == "queued":
                await self._run(known)

    async def _run(self, run: RunProgress) -> None:
        context = get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=_child, args=(theirs, run.scenario, run.policy, run.seed), daemon=True
        )
        await asyncio.to_thread(process.start)
        theirs.close()
        self._process, self._running = process, run.id
        try:
            self._put(msgspec.structs.replace(self._runs[run.id], state="running"))
            await self._follow(run.id, ours, process)
        finally:
            process.kill()
            await asyncio.to_thread(process.join)
            process.close()
            ours.close()
            self._process, self._running = None, None

    async def _follow(self, run: str, news: Connection, process: SpawnProcess) -> None:
        """Take in what the child says until it is done, cancelled or gone."""
        while self._runs[run].state == "running":
            alive = process.is_alive()  # asked before looking: last words may still lie in the pipe
            try:
                while news.poll():
                    told = news.recv()
                    self._courses[run] = told.pop("courses", {})
                    self._put(msgspec.structs.replace(self._runs[run], **told))
            except EOFError:
                alive = False
            if self._runs[run].state == "running" and not alive:
                error = f"the run's process ended with exit code {process.exitcode}"
                self._put(msgspec.structs.replace(self._runs[run], state="failed", error=error))
            await asyncio.sleep(LOOK_S)

    def _put(self, run: RunProgress) -> None:
        self._runs[run.id] = run
        finished = [key for key, r in self._runs.items() if r.state not in ("queued", "running")]
        for key in finished[: max(0, len(self._runs) - MOST_RUNS)]:
            del self._runs[key]
            self._courses.pop(key, None)


def _check(scenario: str, policy: str) -> None:
    """Refuse what cannot run; only shipped scenarios, for a browser names no files of ours."""
    path = SCENARIOS / f"{scenario}.yaml"
    if path.parent != SCENARIOS or not path.is_file():
        raise ValueError(f"scenario: {scenario}: must be one of {', '.join(shipped_scenarios())}")
    contender(policy, read(path.read_text("utf-8"), path.name, Scenario))


def _child(news: Connection, scenario: str, policy: str, seed: int) -> None:
    """Run in the child process and tell the parent; a parent that has gone ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when we end
    os.nice(NICENESS)
    told = 0.0

    def progress(share: float) -> None:
        nonlocal told
        if share - told >= STEP:
            told = share
            news.send({"done": share})

    try:
        report = run_scenario(scenario, policy, seed, progress=progress, points=POINTS)
        courses = report.pop("courses")
        news.send({"state": "done", "done": 1.0, "report": report, "courses": courses})
    except BrokenPipeError:
        return
    except FaultsError as error:
        news.send({"state": "failed", "error": "; ".join(error.lines)})
    except Exception as error:  # noqa: BLE001 - whatever ended the run, people must see it
        news.send({"state": "failed", "error": f"{type(error).__name__}: {error}"})
