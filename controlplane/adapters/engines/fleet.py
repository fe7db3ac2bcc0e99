"""All engines of the fleet, behind the ports `Engines` and `Signals`."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Self

from aiohttp import ClientSession

from controlplane.adapters.engines.breaches import broken
from controlplane.adapters.engines.calls import NoAnswerError, ask, open_session, url
from controlplane.adapters.engines.loads import WINDOW_S, model_load
from controlplane.adapters.engines.tally import Tally
from controlplane.adapters.engines.warm_up import Batch, NotWarmError, run
from controlplane.adapters.engines.watched import EVERY_S, FRESH_S, Watched
from controlplane.clock import Clock
from controlplane.decide.signals.gathering import ENOUGH
from controlplane.domain.catalogue import Catalogue, Variant
from controlplane.domain.decisions import Ending, Outcome
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import Instant, ModelName, ReplicaName
from controlplane.ports import EngineAt, EngineState

LOOK_AGAIN_S = 0.01  # for each engine of a model: looking takes longer the more there are …
LOOK_WITHIN_S = 0.5  # … and is never put off for longer than that
TURN_WITHIN_S = 60.0  # falling asleep moves the weights of a model
REPORT_AFTER_S = 2.0  # the caller waits no longer; the state says the rest
SLEEPERS = ("vllm",)  # engines with a call for it


class EngineFleet:
    """Asks every engine once a second, each by itself."""

    def __init__(self, catalogue: Catalogue, clock: Clock) -> None:
        """Know the models; `follow` says which engines there are."""
        self.wake: Callable[[], None] = lambda: None
        self._catalogue, self._clock = catalogue, clock
        self._session: ClientSession | None = None
        self._watched: dict[ReplicaName, Watched] = {}
        self._of_model: dict[ModelName, dict[ReplicaName, Watched]] = {}  # the same
        self._tallies: dict[ModelName, Tally] = {}
        self._broken: dict[ModelName, frozenset[str]] = {}
        self._looked_at: dict[ModelName, Instant] = {}
        self._states: dict[ReplicaName, tuple[bool, bool, bool]] = {}
        self._turning: dict[ReplicaName, asyncio.Task[Outcome]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        """Open the connections."""
        self._session = open_session()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Ask nobody any more, and close them."""
        self.follow(())
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    def swap_catalogue(self, catalogue: Catalogue) -> None:
        """Know the catalogue that is now in force."""
        self._catalogue = catalogue
        for gone in self._tallies.keys() - catalogue.models.keys():
            del self._tallies[gone]

    # ------------------------------------------------------------------ the port `Engines`

    def follow(self, engines: Sequence[EngineAt]) -> None:
        """Ask these from now on, and no others; a restarted engine is a new one."""
        wanted = {engine.replica: engine for engine in engines}
        for replica in [*self._watched]:
            if replica not in wanted or _another(self._watched[replica].engine, wanted[replica]):
                self._forget(replica)
        for number, engine in enumerate(engines):
            watched = self._watched.get(engine.replica)
            if watched is None:
                self._begin(engine, EVERY_S * (number % 16) / 16 / self._clock.rate)
            elif engine != watched.engine:
                watched.move_to(engine)

    def state(self, replica: ReplicaName) -> EngineState | None:
        """Give what an engine said last; None before its first answer."""
        watched = self._watched.get(replica)
        return None if watched is None else watched.state(self._clock.now())

    async def warm_up(self, replica: ReplicaName, requests: int) -> Outcome:
        """Begin its warm-up batch; the state says how it goes."""
        watched = self._watched.get(replica)
        if watched is None:
            return Outcome(Ending.REFUSED, f"{replica} is not running, or has no address yet")
        if watched.warming_up:
            return Outcome(Ending.DONE, "under way already")
        if watched.sleeping:
            return Outcome(Ending.REFUSED, f"{replica} sleeps")
        model = self._catalogue.models.get(watched.engine.model)
        if model is None:
            return Outcome(Ending.REFUSED, f"{watched.engine.model} has left the catalogue")
        batch = Batch(
            engine=watched.engine,
            requests=max(1, requests),
            slots=self._variant(watched.engine).slots,
            limit_s=model.policy.spare.warmup_limit_s,
        )
        watched.warming_up, watched.note = True, ""
        self._spawn(self._warm(watched, batch))
        return Outcome(Ending.DONE, f"{batch.requests} prompts, {batch.slots} at a time")

    async def sleep(self, replica: ReplicaName) -> Outcome:
        """Put it to sleep; not while it generates, for that would end without an answer."""
        watched = self._watched.get(replica)
        if watched is not None and (watched.in_flight(self._clock.now()).x or 0.0) > 0:
            return Outcome(Ending.REFUSED, f"{replica} still has requests")
        return await self._turn(replica, "/sleep", {"level": "1"}, asleep=True)

    async def wake_up(self, replica: ReplicaName) -> Outcome:
        """Wake it."""
        return await self._turn(replica, "/wake_up", {}, asleep=False)

    # ------------------------------------------------------------------ the port `Signals`

    async def loads(self) -> Mapping[ModelName, ModelLoad]:
        """Give the load of every catalogued model; what is unknown says so."""
        return {model: self._load(model) for model in self._catalogue.models}

    @property
    def full(self) -> frozenset[ReplicaName]:
        """Name the engines that have more than they can take."""
        now = self._clock.now()
        return frozenset(name for name, watched in self._watched.items() if watched.full(now))

    # ------------------------------------------------------------------ what engines say

    def _begin(self, engine: EngineAt, offset_s: float) -> None:
        if self._session is None:
            raise RuntimeError("engines can be asked only within `async with`")
        watched = Watched(engine, self._clock, self._session)
        self._watched[engine.replica] = watched
        self._of_model.setdefault(engine.model, {})[engine.replica] = watched
        watched.start(self._heard, offset_s)

    def _forget(self, replica: ReplicaName) -> None:
        watched = self._watched.pop(replica)
        del self._of_model[watched.engine.model][replica]
        for task in watched.stop():
            self._mind(task)
        self._states.pop(replica, None)
        turning = self._turning.pop(replica, None)
        if turning is not None:
            turning.cancel()

    def _heard(self, watched: Watched) -> None:
        """Take in an answer, or that there was none; wake the loops where it matters."""
        engine, now = watched.engine, self._clock.now()
        watched.count_into(self._tallies.setdefault(engine.model, Tally()))
        self._say_state(watched)
        if engine.model not in self._catalogue.models:
            return
        serving = self._serving(engine.model)
        rest_s = min(LOOK_WITHIN_S, LOOK_AGAIN_S * len(serving))
        if now - self._looked_at.get(engine.model, 0.0) >= rest_s:
            self._looked_at[engine.model] = now
            self._look_for_breaches(engine.model, serving)

    def _say_state(self, watched: Watched) -> None:
        """Wake the loops when an engine becomes healthy, warm or awake, or stops to be."""
        state = watched.state(self._clock.now())
        if state is None:
            return
        said = (state.healthy, state.sleeping, state.warmed_up)
        replica = watched.engine.replica
        if self._states.get(replica, (False, False, False)) != said:
            self.wake()
        self._states[replica] = said

    def _look_for_breaches(self, model: ModelName, serving: Sequence[Watched]) -> None:
        load, policy = self._load(model), self._catalogue.models[model].policy
        variants = [self._variant(watched.engine) for watched in serving]
        slots = float(sum(variant.slots for variant in variants))
        declared_s = max((variant.service_s for variant in variants), default=0.0)
        now_broken = broken(load, policy, slots, declared_s)
        if now_broken - self._broken.get(model, frozenset()):
            self.wake()
        self._broken[model] = now_broken

    def _load(self, model: ModelName) -> ModelLoad:
        at, policy = self._clock.now(), self._catalogue.models[model].policy
        serving, tally = self._serving(model), self._tallies.setdefault(model, Tally())
        answering = sum(watched.answers(at) for watched in serving)
        if not serving or answering < ENOUGH * len(serving):
            tally.forget()  # what passed unseen was not nothing
        else:
            tally.mark(at, policy.scaling.steady_s + FRESH_S, WINDOW_S)
        return model_load(model, policy, serving, tally, at)

    def _serving(self, model: ModelName) -> Sequence[Watched]:
        of_model = self._of_model.get(model, {}).values()  # not all: each answer looks at these
        return [watched for watched in of_model if watched.engine.serves]

    def _variant(self, engine: EngineAt) -> Variant:
        variants: Mapping[Any, Variant] = self._catalogue.models[engine.model].variants
        return variants.get(engine.node_class) or next(iter(variants.values()))

    # ------------------------------------------------------------------ what engines are told

    async def _warm(self, watched: Watched, batch: Batch) -> None:
        def told(note: str) -> None:
            watched.note = note

        if self._session is None:
            return
        try:
            watched.note = await run(self._session, batch, told)
            watched.warmed_up = True
        except NotWarmError as cause:
            watched.note = str(cause)
        finally:
            watched.warming_up = False
        self._say_state(watched)

    async def _turn(
        self, replica: ReplicaName, path: str, parameters: Mapping[str, str], *, asleep: bool
    ) -> Outcome:
        """Let an engine fall asleep or wake; the state says when it has."""
        watched = self._watched.get(replica)
        if watched is None:
            return Outcome(Ending.REFUSED, f"{replica} is not running, or has no address yet")
        serving = watched.engine.serving
        if serving.engine not in SLEEPERS or not serving.may_sleep:
            no_call = f"{serving.engine} has no call for it"
            why = "serving.may_sleep is off" if serving.engine in SLEEPERS else no_call
            return Outcome(Ending.REFUSED, f"{replica} cannot sleep: {why}")
        task = self._turning.get(replica)
        if task is None or task.done():
            task = self._spawn(self._asked_to_turn(watched, path, parameters, asleep=asleep))
            self._turning[replica] = task
        done, _ = await asyncio.wait((task,), timeout=REPORT_AFTER_S)
        return task.result() if done else Outcome(Ending.DONE, "under way")

    async def _asked_to_turn(
        self, watched: Watched, path: str, parameters: Mapping[str, str], *, asleep: bool
    ) -> Outcome:
        if self._session is None:
            return Outcome(Ending.FAILED, "engines are asked no more")
        address = url(watched.engine, path)
        try:
            answer = await ask(self._session, address, TURN_WITHIN_S, post=parameters)
        except NoAnswerError as cause:
            return Outcome(Ending.FAILED, str(cause))
        if answer.status == 404:
            note = f"{path} is not there: vLLM needs --enable-sleep-mode and VLLM_SERVER_DEV_MODE=1"
            return Outcome(Ending.REFUSED, note)
        if answer.status != 200:
            return Outcome(Ending.FAILED, f"{path} answers {answer.status}")
        watched.sleeping = asleep
        self._say_state(watched)
        return Outcome(Ending.DONE)

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._mind(task)
        return task

    def _mind(self, task: asyncio.Task[Any]) -> None:
        """Keep a task until it has ended, so that it ends before the connections do."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _another(before: EngineAt, now: EngineAt) -> bool:
    """Say whether it is another engine under the same name: restarted, moved, of another kind."""
    return _identity(before) != _identity(now)


def _identity(engine: EngineAt) -> tuple[object, ...]:
    serving = engine.serving
    where = (engine.host, serving.port, serving.metrics_port, serving.metrics_path, serving.tls)
    return (engine.started, engine.model, serving.engine, serving.served_name, *where)
