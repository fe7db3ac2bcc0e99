"""The composition root: everything is made, wired and closed here, and nowhere else.

What is opened is closed by the same construct, in reverse order. SIGTERM and SIGINT end the daemon
at once, for a cycle may be cut after any step; SIGHUP looks at the fleet file now.
"""

import asyncio
import contextlib
import gc
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn

import structlog
from aiohttp import web

from controlplane.adapters.sql.migrate import upgrade
from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.ownership import sole_daemon
from controlplane.adapters.sql.store import Store
from controlplane.clock import Clock
from controlplane.daemon.fleet_file import Applying, FleetFile
from controlplane.daemon.surroundings import EMBEDDED, Surroundings, embedded_surroundings
from controlplane.decide.replay import decide_again
from controlplane.decide.scaling.inputs import ScalingMemory, ScalingSeen
from controlplane.domain.decisions import Choice
from controlplane.domain.quantities import ModelName
from controlplane.http.access import access_at
from controlplane.http.app import make_app
from controlplane.http.state import State
from controlplane.loops.acting import Gate
from controlplane.loops.catalogue import CatalogueMemory, CatalogueSeen, catalogue_loop
from controlplane.loops.fleet import Fleet
from controlplane.loops.metering import Metering
from controlplane.loops.placement import Moves, placement_loop
from controlplane.loops.reconcile import Loop, Shell, reconcile
from controlplane.loops.scaling import scaling_loop
from controlplane.loops.showing import Showing
from controlplane.loops.spare import spare_loop
from controlplane.ports import UnavailableError
from controlplane.settings import ServeOptions, parse_catalogue
from controlplane.simulation.contenders import FORMS
from controlplane.simulation.library import scenario_names, shipped_scenarios
from controlplane.simulation.whatif import WhatIfRuns
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.history import History
from controlplane.telemetry.metrics import Metrics

log = structlog.stdlib.get_logger(__name__)

PRUNE_EVERY_S = 86_400.0
NAMED_AFTER_S = 1.0
PRUNE_AGAIN_S = 60.0  # after the store could not be had


class StartError(Exception):
    """The daemon cannot start; its text is one sentence for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """A daemon that is up: where it answers, and how to end it."""

    address: str
    state: State
    stop: asyncio.Event


async def serve(options: ServeOptions, started: Callable[[Daemon], None]) -> None:
    """Run until told to stop. Raises StartError or FaultsError when it cannot start."""
    file = FleetFile(options.config)
    text = file.read()
    catalogue = parse_catalogue(text, file.name)  # a file with faults leaves no trace in the store
    clock = Clock(options.speed)
    with sole_daemon(options.data):
        await asyncio.to_thread(upgrade, options.data)
        around = embedded_surroundings(catalogue, clock, options)
        async with open_store(options.data, around.world) as store:
            await store.bury(EMBEDDED)
            version = await store.catalogues.add(text, file.name, "start", clock.now())
            file.put(catalogue, version)
            await _run(options, clock, store, around, file, started)


async def _run(
    options: ServeOptions,
    clock: Clock,
    store: Store,
    around: Surroundings,
    file: FleetFile,
    started: Callable[[Daemon], None],
) -> None:
    """Wire the loops and the pages around a cluster, and run them until told to stop."""
    shell = Shell(
        clock=clock,
        journal=store.journal,
        memory=store.memory,
        heartbeats=Heartbeats(),
        metrics=Metrics(),
        catalogue_version=lambda: file.force.version.version,
        leadership=around.leadership,
    )
    fleet = Fleet(
        clock=clock,
        cluster=around.cluster,
        signals=around.signals,
        overrides=store.overrides,
        catalogue=file.force.catalogue,
    )
    gate, history, whatif = _gate(options, around, fleet), History(), WhatIfRuns()
    applying = Applying(file, store.catalogues, fleet, clock, around.swap_catalogue)
    around.on_news(lambda: shell.wake("scaling", "spare"))
    state = _state(options, store, shell, gate, (history, file, applying, whatif), around)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(whatif.close)
        address = await stack.enter_async_context(_listening(options, state))
        stop = _signals(shell)
        loops = [
            *_fleet_loops(fleet, gate, shell, history),
            _metering_loop(fleet, shell, history, store, file),
            reconcile(_reload_loop(file, applying, clock), shell),
        ]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_guarded(loop)) for loop in loops]
            for name, run in around.tasks.items():
                tasks.append(group.create_task(_guarded(run()), name=name))
            tasks.append(group.create_task(_prune(store, clock), name="prune"))
            tasks.append(group.create_task(_name_scenarios(state), name="scenarios"))
            # What is there now stays: the collector need not look at it again, which would hold
            # up the event loop, and the end of the process.
            gc.collect()
            gc.freeze()
            started(Daemon(address=address, state=state, stop=stop))
            await stop.wait()
            for task in tasks:
                task.cancel()
    log.info("stopped")


def _gate(options: ServeOptions, around: Surroundings, fleet: Fleet) -> Gate:
    """Advise or act; a model may choose for itself, but nobody acts under --mode advise."""

    def mode(subject: str) -> Literal["act", "advise"] | None:
        model = fleet.catalogue.models.get(ModelName(subject))
        return None if model is None or options.mode == "advise" else model.mode

    return Gate(acting=around.acts if options.mode is None else options.mode == "act", modes=mode)


def _fleet_loops(
    fleet: Fleet, gate: Gate, shell: Shell, history: History
) -> list[Awaitable[NoReturn]]:
    """Scaling decides, spare makes it so, placement moves who is in the way."""
    moves, showing = Moves(), Showing(fleet, history, shell.metrics)

    def seen(look: ScalingSeen, choices: Sequence[Choice], memory: ScalingMemory) -> None:
        moves.scaling = memory  # who waits for devices, for placement
        showing(look, choices, memory)

    scaling = scaling_loop(fleet, gate, lambda: moves.memory, lambda: shell.wake("spare"), seen)
    placement = placement_loop(fleet, gate, moves, lambda: shell.wake("scaling"))
    return [
        reconcile(scaling, shell),
        reconcile(spare_loop(fleet, gate), shell),
        reconcile(placement, shell),
    ]


def _metering_loop(
    fleet: Fleet, shell: Shell, history: History, store: Store, file: FleetFile
) -> Awaitable[NoReturn]:
    meter = Metering(fleet, store.ledger, history, shell.metrics, lambda: file.force.version)
    return reconcile(meter.loop(), shell)


def _reload_loop(
    file: FleetFile, applying: Applying, clock: Clock
) -> Loop[CatalogueSeen, CatalogueMemory]:
    return catalogue_loop(
        file.look, applying.by_file, lambda faults: file.refuse(faults, clock.now())
    )


def _state(
    options: ServeOptions,
    store: Store,
    shell: Shell,
    gate: Gate,
    parts: tuple[History, FleetFile, Applying, WhatIfRuns],
    around: Surroundings,
) -> State:
    """Give pages and API what they may read and ask for."""
    history, file, applying, whatif = parts
    return State(
        clock=shell.clock,
        world=store.world.name,
        cluster=around.title,
        acting=gate.acting,
        leadership=shell.leadership,
        history=history,
        heartbeats=shell.heartbeats,
        in_force=file.force,
        decisions=store.decisions,
        replay=decide_again,
        ledger=store.ledger,
        overrides=store.overrides,
        catalogues=store.catalogues,
        tokens=store.tokens,
        audit=store.audit,
        whatif=whatif,
        validate=parse_catalogue,
        apply_catalogue=applying,
        scenarios=dict.fromkeys(shipped_scenarios(), ""),  # what each is about is read later
        policies=FORMS,
        wake=shell.wake,
        access=access_at(options.host, options.hosts),
        metrics=shell.metrics,
    )


@contextlib.asynccontextmanager
async def _listening(options: ServeOptions, state: State) -> AsyncIterator[str]:
    """Serve pages and API; give their address."""
    runner = web.AppRunner(make_app(state), access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, options.host, options.port)
        try:
            await site.start()
        except OSError as cause:
            where = f"{options.host}:{options.port}"
            raise StartError(f"port: {where} cannot be listened on: {cause.strerror}") from cause
        host, port = runner.addresses[0][:2]
        yield f"http://{f'[{host}]' if ':' in host else host}:{port}"
    finally:
        await runner.cleanup()


def _signals(shell: Shell) -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, shell.wake, "catalogue")
    return stop


async def _guarded(eternal: Awaitable[NoReturn]) -> None:
    """An eternal task that ends is itself a fault: the group then ends, and the daemon with it."""
    await eternal
    raise RuntimeError("a loop came to an end")


async def _name_scenarios(state: State) -> None:
    await asyncio.sleep(NAMED_AFTER_S)
    state.scenarios.update(await asyncio.to_thread(scenario_names))


async def _prune(store: Store, clock: Clock) -> NoReturn:
    while True:
        try:
            await store.prune(clock.now())
            pause = PRUNE_EVERY_S
        except UnavailableError as cause:  # it is only tidying: the daemon goes on
            log.warning("store not tidied", cause=str(cause))
            pause = PRUNE_AGAIN_S
        await asyncio.sleep(pause)
