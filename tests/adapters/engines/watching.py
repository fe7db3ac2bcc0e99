"""A fleet of emulated engines under watch, with time ten times as fast for what is not a socket."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from controlplane.adapters.engines.fleet import EngineFleet
from controlplane.clock import Clock
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.load import ClassLoad, ModelLoad
from controlplane.domain.policies import ModelPolicy
from controlplane.domain.quantities import ReplicaName
from controlplane.domain.serving import Serving
from controlplane.ports import EngineAt, EngineState
from tests.builders import A100, CHAT, a_catalogue, a_model, a_policy, a_variant
from tests.emulation.stand import Stand

RATE = 10.0


def catalogue_of(policy: ModelPolicy | None = None, slots: int = 4) -> Catalogue:
    """One model on one class."""
    on = {A100: a_variant(slots=slots, service_s=0.05)}
    return a_catalogue({CHAT: a_model(on=on, policy=policy or a_policy(steady_s=6.0))})


def an_engine(stand: Stand, number: int = 1, *, serves: bool = True, **serving: Any) -> EngineAt:
    """Say where an emulated engine answers, as the cluster would."""
    kind = stand.engine.spec.engine.removesuffix("-old")
    return EngineAt(
        replica=ReplicaName(f"chat-{number}"),
        model=CHAT,
        node_class=A100,
        host="127.0.0.1",
        serving=Serving(engine=kind, port=stand.port, **serving),  # type: ignore[arg-type]  # a test's choice
        serves=serves,
        started="2026-01-01T00:00:00Z",
    )


def restarted(engine: EngineAt) -> EngineAt:
    """The same replica, its container started anew."""
    return EngineAt(
        replica=engine.replica,
        model=engine.model,
        node_class=engine.node_class,
        host=engine.host,
        serving=engine.serving,
        serves=engine.serves,
        started="2026-01-01T00:09:00Z",
    )


@asynccontextmanager
async def watched(
    engines: Sequence[EngineAt], policy: ModelPolicy | None = None, *, rate: float = RATE
) -> AsyncIterator[EngineFleet]:
    """Watch these engines."""
    async with EngineFleet(catalogue_of(policy), Clock(rate)) as fleet:
        fleet.follow(engines)
        yield fleet


async def load_when(
    fleet: EngineFleet, holds: Callable[[ModelLoad, ClassLoad], bool], within_s: float = 10.0
) -> tuple[ModelLoad, ClassLoad]:
    """Wait until the model's load is so, and give it; else fail showing what it was."""
    load = (await fleet.loads())[CHAT]
    try:
        async with asyncio.timeout(within_s):
            while not holds(load, the_class(load)):
                await asyncio.sleep(0.01)
                load = (await fleet.loads())[CHAT]
    except TimeoutError:
        raise AssertionError(f"it stayed at {load}") from None
    return load, the_class(load)


async def load_now(fleet: EngineFleet) -> tuple[ModelLoad, ClassLoad]:
    """Give the model's load as it is."""
    return await load_when(fleet, lambda _load, _class: True)


async def state_when(
    fleet: EngineFleet,
    holds: Callable[[EngineState], bool],
    replica: str = "chat-1",
    within_s: float = 10.0,
) -> EngineState:
    """Wait until an engine is in such a state, and give it."""
    state = None
    try:
        async with asyncio.timeout(within_s):
            while state is None or not holds(state):
                await asyncio.sleep(0.01)
                state = fleet.state(ReplicaName(replica))
    except TimeoutError:
        raise AssertionError(f"it stayed at {state}") from None
    return state


def the_class(load: ModelLoad) -> ClassLoad:
    """Engines know one class only."""
    (of_class,) = load.classes.values()
    return of_class


def serving_as(engine: EngineAt, **serving: Any) -> EngineAt:
    """The same engine, its model's serving settings changed."""
    return EngineAt(
        replica=engine.replica,
        model=engine.model,
        node_class=engine.node_class,
        host=engine.host,
        serving=replace(engine.serving, **serving),
        serves=engine.serves,
        started=engine.started,
    )
