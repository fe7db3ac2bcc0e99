"""What others are told: KEDA by the scaler's port, HPAs by a metric, people by a webhook.

All of it rides on the looks of scaling, in every daemon, leading or not: each of them answers KEDA,
and must say the same. A fault in it costs a moment of it, never the daemon.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import structlog

from controlplane.adapters.keda.board import Board
from controlplane.adapters.webhook.notifying import Notifier
from controlplane.daemon.listening import for_people
from controlplane.daemon.surroundings import StartError, Surroundings, Task
from controlplane.decide.scaling.inputs import ScalingMemory, ScalingSeen
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.handover import AlertsPolicy
from controlplane.domain.quantities import Micros, ModelName
from controlplane.http.reads.costs import costs_today
from controlplane.http.state import State
from controlplane.loops.acting import Gate
from controlplane.loops.alerting import Alerting
from controlplane.loops.fleet import Fleet
from controlplane.loops.handover import Handover
from controlplane.loops.publishing import Publishing
from controlplane.ports import UnavailableError
from controlplane.settings import ServeOptions

if TYPE_CHECKING:
    from controlplane.adapters.keda.server import ScalerPort

AGAIN_S = 5.0  # after a fault
SPENT_EVERY_S = 60.0  # of real time

Look: TypeAlias = Callable[[ScalingSeen, ScalingMemory], None]

log = structlog.stdlib.get_logger(__name__)


def _no_breakers() -> Mapping[ModelName, str]:
    return {}


@dataclass(slots=True)
class Others:
    """Take scaling's looks with `note`; `tasks` must run for them to be told."""

    note: Look
    tasks: Mapping[str, Task]
    breakers: Callable[[], Mapping[ModelName, str]] = _no_breakers  # those that are open, and why


@asynccontextmanager
async def others(
    options: ServeOptions,
    around: Surroundings,
    fleet: Fleet,
    gate: Gate,
    state: State,
    address: str,
) -> AsyncIterator[Others]:
    """Listen for KEDA where that is wanted, and put together who is told what."""
    board, spending, unmoved = Board(), Spending(state), Unmoved(options, around)
    handover = Handover(fleet, board.put, state.metrics.sizes)
    pages = for_people(address, options.hosts)
    notifier = Notifier(lambda: alerts_policy(options, fleet.catalogue), state.clock, pages)

    def breakers() -> Mapping[ModelName, str]:
        return told.breakers()

    alerting = Alerting(
        fleet,
        state.leadership,
        notifier.update,
        breakers,
        lambda: spending.spent(fleet.catalogue),
    )

    def note(look: ScalingSeen, memory: ScalingMemory) -> None:
        unmoved.note(fleet.catalogue)
        handover.note(look)
        alerting.note(look, memory)

    tasks = {"handover": handover.run, "alerts": notifier.run, "spending": spending.run}
    async with AsyncExitStack() as stack:
        if options.scaler is not None:
            port = _port(options, options.scaler, board, fleet)
            try:
                await stack.enter_async_context(port.listening())
            except OSError as cause:
                raise StartError(str(cause)) from cause
            tasks["scaler"] = port.look_for_ever
            if around.scaled_objects is not None:
                publishing = Publishing(
                    fleet,
                    around.scaled_objects,
                    gate,
                    state.leadership,
                    around.namespace or "",
                    lambda: handover.sizes,
                )
                tasks["publishing"] = partial(publishing.run, port.answers)
        told = Others(note, {name: partial(_steadily, name, run) for name, run in tasks.items()})
        yield told


def _port(options: ServeOptions, address: str, board: Board, fleet: Fleet) -> "ScalerPort":
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # what it has to say comes as an error, too
    # Whoever does not hand over to KEDA does not pay for gRPC.
    from controlplane.adapters.keda.server import Certificates, ScalerPort  # noqa: PLC0415

    certificates = None
    if options.scaler_certificate is not None and options.scaler_key is not None:
        certificates = Certificates(
            certificate=options.scaler_certificate,
            key=options.scaler_key,
            authority=options.scaler_authority,
        )
    return ScalerPort(board, lambda: fleet.catalogue, fleet.clock, address, certificates)


def alerts_policy(options: ServeOptions, catalogue: Catalogue) -> AlertsPolicy:
    """Give the fleet file's, told where the option says, if it says."""
    if options.alerts is None:
        return catalogue.alerts
    return replace(catalogue.alerts, webhook=options.alerts)


class Spending:
    """What today has cost so far, for those who set a budget."""

    def __init__(self, state: State) -> None:
        """Nothing is known yet."""
        self._state = state
        self._today: Mapping[str, int] = {}

    def spent(self, catalogue: Catalogue) -> Mapping[ModelName, Micros]:
        """Give what is known of each model."""
        return {name: Micros(self._today[name]) for name in catalogue.models if name in self._today}

    async def run(self) -> NoReturn:
        """Look at the ledger for ever; nobody's budget, no look."""
        while True:
            models = self._state.in_force.catalogue.models.values()
            if any(model.budget_per_day is not None for model in models):
                try:
                    self._today = await costs_today(self._state)
                except UnavailableError as cause:
                    log.debug("what today cost is not known", cause=str(cause))
            await asyncio.sleep(SPENT_EVERY_S / self._state.clock.rate)


class Unmoved:
    """Says once of a catalogue which models are left to a KEDA that nobody answers."""

    def __init__(self, options: ServeOptions, around: Surroundings) -> None:
        """Know what this daemon can do for KEDA."""
        self._why = ""
        if options.scaler is None:
            self._why = "KEDA is not answered: --scaler says where to listen for it"
        elif around.scaled_objects is None:
            self._why = "the embedded cluster has no KEDA that would move them"
        self._looked_at: Catalogue | None = None

    def note(self, catalogue: Catalogue) -> None:
        """Look at a catalogue that is new."""
        if catalogue is self._looked_at:
            return
        self._looked_at = catalogue
        left = self.left(catalogue)
        if left:
            log.warning("nobody moves what is left to KEDA", models=left, cause=self._why)

    def left(self, catalogue: Catalogue) -> Sequence[ModelName]:
        """Give the models whose number nobody writes."""
        if not self._why:
            return ()
        models = catalogue.models.items()
        return [name for name, model in models if model.policy.scaling.writer == "keda"]


async def _steadily(name: str, task: Callable[[], Awaitable[NoReturn]]) -> NoReturn:
    """Run something for ever, and begin anew after a fault."""
    while True:
        try:
            await task()
        except Exception:  # told a moment later is better than a daemon that ended
            log.exception("others are not told", task=name)
        await asyncio.sleep(AGAIN_S)
