"""A load from what was asked to the report: schedule, targets, and virtual time beside it."""

import asyncio
import resource
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import uvloop

from controlplane.cli.load_live import aside, live
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import ModelName
from controlplane.emulation.load.contest import Contest, standing
from controlplane.emulation.load.open_loop import OpenLoop, session
from controlplane.emulation.load.report import Judge, run_report, whole_report
from controlplane.emulation.load.sending import Target
from controlplane.emulation.load.variants import Variant
from controlplane.emulation.load.wishes import Wish, wishes
from controlplane.simulation.expected import expected, front_door
from controlplane.simulation.library import Loaded, load_scenario
from controlplane.simulation.scaled import Scale, Scaled, scaled

TOKENS = 16  # of an answer, where nobody said how long a token takes
IN_VIRTUAL_TIME = {Variant.FIFO: True, Variant.PRIORITY: False}  # the world's door is ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line said, defaults filled in."""

    scenario: str
    url: str | None
    model: str | None
    keys: Mapping[int, str]
    share: float | None
    squeeze: float
    begin_s: float
    seconds: float | None
    seed: int
    sse: frozenset[str]
    token_s: float | None
    drain_s: float
    variants: tuple[Variant, ...]
    one_by_one: bool
    engines: int
    slots: int
    bucket_share: float
    envoy: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The schedule, and what is needed to judge it."""

    loaded: Loaded
    name: ModelName
    share: float
    load: Scaled
    schedule: Sequence[Wish]


def run(asked: Asked) -> dict[str, Any]:
    """Run it; wrong input raises FaultsError before anything starts."""
    plan = planned(asked)
    _many_files()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            return runner.run(_run(asked, plan))
        except asyncio.CancelledError:  # told to stop before anything was sent
            raise KeyboardInterrupt from None


def planned(asked: Asked) -> Planned:
    """Draw the schedule."""
    loaded = load_scenario(asked.scenario)
    name = _model(loaded, asked.model)
    model = loaded.scenario.models[name]
    share = asked.share or asked.engines * asked.slots / (model.initial * model.slots)
    load = scaled(
        loaded,
        name,
        asked.seed,
        Scale(share=share, squeeze=asked.squeeze, begin_s=asked.begin_s, seconds=asked.seconds),
    )
    if asked.token_s is not None:
        load = load.in_steps(asked.token_s)
    drawn = load.requests
    rows = zip(drawn.at.tolist(), drawn.rank.tolist(), drawn.service_s.tolist(), strict=True)
    streaming = [p.value in asked.sse for p in PRIORITIES]
    if asked.token_s is None:
        schedule = wishes(((at, rank, TOKENS) for at, rank, _ in rows), 1, streaming)
    else:
        schedule = wishes(rows, asked.token_s, streaming)
    return Planned(loaded=loaded, name=name, share=share, load=load, schedule=schedule)


def _model(loaded: Loaded, wanted: str | None) -> ModelName:
    """Find whose load it is; of one model it may be asked for by another name."""
    models = list(loaded.scenario.models)
    if wanted is None or len(models) == 1:
        if len(models) == 1:
            return models[0]
        raise FaultsError([Fault("--model", None, "", "", f"must be one of {', '.join(models)}")])
    if wanted not in models:
        rule = f"must be one of {', '.join(models)}"
        raise FaultsError([Fault("--model", None, "", wanted, rule)])
    return ModelName(wanted)


async def _run(asked: Asked, plan: Planned) -> dict[str, Any]:
    stop = _Stop(asyncio.get_running_loop())
    runs: dict[str, Any] = {}
    if asked.url is None:
        engines = f"{asked.engines} x {asked.slots} slots"
        aside(f"bringing up {', '.join(asked.variants)}, each with {engines}")
    for targets in _turns(asked, plan):
        async with targets as standing_now, session() as opened:
            loop = OpenLoop(opened, standing_now)
            await stop.during(loop, live(loop, plan.load.seconds, asked.token_s), plan, asked)
            judge = Judge(
                limits=plan.load.model.in_time_s,
                seconds=min(plan.load.seconds, loop.now()),
                token_s=asked.token_s,
                slots=None if asked.url else asked.engines * asked.slots,
            )
            for sender in loop.senders:
                runs[sender.target.name] = run_report(sender.book.outcomes, judge)
        if stop.stopped:
            break
    head = {
        "scenario": plan.load.scenario,
        "seed": asked.seed,
        "seconds": plan.load.seconds,
        "share": round(plan.share, 6),
        "squeeze": asked.squeeze,
        "interrupted": stop.stopped,
    }
    return whole_report(head, runs, _expected(asked, plan, runs))


class _Stop:
    """What Ctrl-C does: before anything is sent it ends all, afterwards the run, with a report."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.stopped = False
        self._main = asyncio.current_task()
        self._loop: OpenLoop | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._now)

    def _now(self) -> None:
        self.stopped = True
        if self._loop is not None:
            self._loop.stopped.set()
        elif self._main is not None:
            self._main.cancel()

    async def during(
        self, loop: OpenLoop, shown: Callable[[], Any], plan: Planned, asked: Asked
    ) -> None:
        self._loop = loop
        showing = asyncio.create_task(shown())
        try:
            await loop.run(plan.schedule, asked.drain_s)
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)


def _turns(asked: Asked, plan: Planned) -> list[Any]:
    """Give what is to stand, turn by turn."""
    if asked.url is not None:
        name = asked.model or plan.name
        return [_there(Target(name="gateway", url=asked.url, model=name, keys=asked.keys))]
    contest = Contest(
        model=plan.name,
        engines=asked.engines,
        slots=asked.slots,
        token_s=asked.token_s or 0.0,
        service_s=plan.load.service_s,
        admission=front_door(plan.loaded.scenario, plan.name, asked.engines, asked.slots),
        bucket_share=asked.bucket_share,
        envoy=asked.envoy,
    )
    if asked.one_by_one:
        return [standing(contest, [variant]) for variant in asked.variants]
    return [standing(contest, asked.variants)]


@asynccontextmanager
async def _there(target: Target) -> AsyncIterator[list[Target]]:
    """A gateway that runs already."""
    yield [target]


def _expected(asked: Asked, plan: Planned, runs: Mapping[str, Any]) -> dict[str, Any]:
    """Run what our own admission did in virtual time, too."""
    if asked.url is not None:
        return {}
    size = (asked.engines, asked.slots)
    return {
        variant.value: expected(plan.loaded.scenario, plan.name, plan.load, size, fifo=fifo)
        for variant, fifo in IN_VIRTUAL_TIME.items()
        if variant in runs
    }


def _many_files() -> None:
    """Every request under way is a connection: allow as many as the system does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
