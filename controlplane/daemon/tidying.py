"""What a daemon does beside its work: old rows go, scenarios get their names."""

import asyncio
from typing import NoReturn

import structlog

from controlplane.adapters.sql.store import Store
from controlplane.http.state import State
from controlplane.loops.reconcile import Shell
from controlplane.ports import UnavailableError
from controlplane.simulation.library import scenario_names

PRUNE_EVERY_S = 86_400.0
PRUNE_AGAIN_S = 60.0  # after the store could not be had
NAMED_AFTER_S = 1.0

log = structlog.stdlib.get_logger(__name__)


async def name_scenarios(state: State) -> None:
    """Say what each scenario is about; reading them all would hold up the start."""
    await asyncio.sleep(NAMED_AFTER_S)
    state.scenarios.update(await asyncio.to_thread(scenario_names))


async def prune(store: Store, shell: Shell) -> NoReturn:
    """Take away what is older than it is kept, for ever; of several daemons the leader does."""
    while True:
        pause = PRUNE_AGAIN_S
        try:
            if shell.leadership.leading:
                await store.prune(shell.clock.now())
                pause = PRUNE_EVERY_S
        except UnavailableError as cause:  # it is only tidying: the daemon goes on
            log.warning("store not tidied", cause=str(cause))
        await asyncio.sleep(pause)
