"""The composition root: everything is made, wired and closed here, and nowhere else.

What is opened is closed by the same construct, in reverse order. SIGTERM and SIGINT end the daemon
at once, for a cycle may be cut after any step; SIGHUP looks at the fleet file now.
"""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

import structlog

from controlplane.adapters.sql.election import election_in
from controlplane.adapters.sql.migrate import upgrade_apart
from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.ownership import sole_daemon
from controlplane.adapters.sql.store import Store
from controlplane.clock import Clock
from controlplane.daemon import memory
from controlplane.daemon.fleet_file import Applying, FleetFile, follow_others
from controlplane.daemon.handing_over import Others, others
from controlplane.daemon.listening import listening
from controlplane.daemon.loops import (
    fleet_loops,
    gate_of,
    metering,
    reload_loop,
    workloads_loops,
)
from controlplane.daemon.signals import Sources
from controlplane.daemon.surroundings import (
    EMBEDDED,
    Surroundings,
    Task,
    embedded_surroundings,
)
from controlplane.daemon.systemd import here
from controlplane.daemon.tidying import name_scenarios, prune
from controlplane.daemon.world_door import WorldDoor
from controlplane.decide.replay import decide_again
from controlplane.domain.catalogue import Catalogue
from controlplane.http.access import access_at
from controlplane.http.door import FrontDoor
from controlplane.http.state import State
from controlplane.loops.acting import Gate
from controlplane.loops.fleet import Fleet
from controlplane.loops.reconcile import Shell, reconcile
from controlplane.settings import ServeOptions, parse_catalogue
from controlplane.simulation.contenders import FORMS
from controlplane.simulation.library import shipped_scenarios
from controlplane.simulation.whatif import WhatIfRuns
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.history import History
from controlplane.telemetry.metrics import Metrics

log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """A daemon that is up: where it answers, and how to end it."""

    address: str
    state: State
    stop: asyncio.Event


async def serve(options: ServeOptions, started: Callable[[Daemon], None]) -> None:
    """Run until told to stop. Raises StartError or FaultsError when it cannot start."""
    memory.share_one_arena()
    file = FleetFile(options.config)
    text = file.read()
    catalogue = parse_catalogue(text, file.name)  # a file with faults leaves no trace in the store
    clock = Clock(options.speed)
    with sole_daemon(options.data):
        await upgrade_apart(options.data)
        async with (
            _around(options, file, catalogue, clock) as around,
            open_store(options.data, around.world) as store,
        ):
            await store.bury(EMBEDDED)
            version = await store.catalogues.add(text, file.name, "start", clock.now())
            file.put(catalogue, version)
            await _run(options, clock, store, around, file, started)


def _around(
    options: ServeOptions, file: FleetFile, catalogue: Catalogue, clock: Clock
) -> AbstractAsyncContextManager[Surroundings]:
    """Give the cluster that was named, else the embedded one."""
    if options.kubeconfig is None:
        return embedded_surroundings(options, catalogue, clock)
    from controlplane.daemon.kubernetes import kubernetes_surroundings  # noqa: PLC0415  # heavy

    def acts() -> bool:
        modes = {model.mode for model in file.force.catalogue.models.values()}
        return options.mode == "act" or (options.mode is None and "act" in modes)

    return kubernetes_surroundings(options, catalogue, clock, acts)


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
        told=around.told,
    )
    history = History()
    sources = Sources(options, around, lambda: file.force.catalogue, lambda: history.view, clock)
    fleet = Fleet(
        clock=clock,
        cluster=around.cluster,
        signals=sources.ordered,
        overrides=store.overrides,
        catalogue=file.force.catalogue,
    )
    gate, whatif = gate_of(options, around, fleet), WhatIfRuns()
    applying = Applying(file, store.catalogues, fleet, clock, around.swap_catalogue)
    around.on_news(lambda: shell.wake("scaling", "spare"))
    store.journal.may_write = lambda: around.leadership.leading
    state = _state(options, store, shell, gate, (history, file, applying, whatif, sources), around)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(whatif.close)
        address = await stack.enter_async_context(listening(options, state))
        told = await stack.enter_async_context(others(options, around, fleet, gate, state, address))
        admitting = await stack.enter_async_context(
            _gateway(options, around, store, shell, sources, (told, state.door))
        )
        stop, systemd = _signals(shell), here()

        def loops() -> list[Awaitable[NoReturn]]:
            return [
                *fleet_loops(fleet, gate, shell, history, told.note),
                *workloads_loops(fleet, gate, shell, around),
                metering(fleet, shell, history, store, file),
                reconcile(reload_loop(file, applying, clock), shell),
            ]

        async with asyncio.TaskGroup() as group:
            running: dict[str, Task] = {
                **around.tasks,
                **sources.tasks,
                **admitting,
                **told.tasks,
                "prune": partial(prune, store, shell),
                "systemd": partial(systemd.beat, shell.heartbeats),
            }
            tasks = [group.create_task(_guarded(run()), name=name) for name, run in running.items()]
            tasks.append(group.create_task(_loop_when_ready(around, loops), name="loops"))
            tasks += [
                group.create_task(_guarded(one))
                for one in _beside_others(options, store, shell, around, applying)
            ]
            tasks += [group.create_task(one) for one in (name_scenarios(state), memory.settle())]
            memory.keep_what_is_there()
            started(Daemon(address=address, state=state, stop=stop))
            systemd.ready(f"up at {address}")
            await stop.wait()
            systemd.stopping()
            for task in tasks:
                task.cancel()
    log.info("stopped")


def _state(
    options: ServeOptions,
    store: Store,
    shell: Shell,
    gate: Gate,
    parts: tuple[History, FleetFile, Applying, WhatIfRuns, Sources],
    around: Surroundings,
) -> State:
    """Give pages and API what they may read and ask for."""
    history, file, applying, whatif, sources = parts
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
        signals=sources.ordered,
        door=FrontDoor(around.queues),
        scenarios=dict.fromkeys(shipped_scenarios(), ""),  # what each is about is read later
        policies=FORMS,
        wake=shell.wake,
        access=access_at(options.host, options.hosts),
        metrics=shell.metrics,
    )


@contextlib.asynccontextmanager
async def _gateway(
    options: ServeOptions,
    around: Surroundings,
    store: Store,
    shell: Shell,
    sources: Sources,
    tell: tuple[Others, FrontDoor],
) -> AsyncIterator[Mapping[str, Task]]:
    """Run the gateway that was asked for, let others join, or open the world's door; give tasks."""
    others, door = tell
    if options.gateway is None and around.shut is not None:
        door.guards = world = WorldDoor(around.shut, store, shell, sources.catalogue)
        yield world.tasks
        return
    if options.gateway is None:
        from controlplane.daemon.joined import joined_gateways  # noqa: PLC0415  # nor this

        catalogue, table = sources.catalogue, sources.table
        async with joined_gateways(around, store, shell, catalogue, table) as joined:
            door.gateways = door.counts = door.guards = joined
            others.breakers = joined.open_breakers
            yield joined.tasks
        return
    from controlplane.daemon.gateway import gateway_of  # noqa: PLC0415  # nobody else needs it

    made = gateway_of(options.gateway, options.data, around, store, shell, sources.catalogue)
    async with made:
        sources.table["gateway"] = door.counts = door.guards = made
        others.breakers = made.open_breakers
        yield made.tasks


def _signals(shell: Shell) -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, shell.wake, "catalogue")
    return stop


async def _loop_when_ready(
    around: Surroundings, loops: Callable[[], list[Awaitable[NoReturn]]]
) -> None:
    """Let the loops begin when there is something to be seen."""
    await around.ready()
    async with asyncio.TaskGroup() as group:
        for loop in loops():
            group.create_task(_guarded(loop))


async def _guarded(eternal: Awaitable[NoReturn]) -> None:
    """An eternal task that ends is itself a fault: the group then ends, and the daemon with it."""
    await eternal
    raise RuntimeError("a loop came to an end")


def _beside_others(
    options: ServeOptions, store: Store, shell: Shell, around: Surroundings, applying: Applying
) -> list[Awaitable[NoReturn]]:
    """Let daemons that share a store agree on one that keeps its journal, and on a catalogue."""
    election = election_in(options.data, store.world, around.identity)
    if election is None or around.advised_by is None:
        return []
    election.changed = shell.wake
    around.advised_by(election)
    return [election.run(), follow_others(applying)]
