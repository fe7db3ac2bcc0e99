"""What gateways are to serve now: the fleet as seen, who may ask, what people took out."""

import asyncio
from collections.abc import Callable, Sequence

from controlplane.adapters.sql.store import Store
from controlplane.daemon.surroundings import Surroundings
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.gateway import ApiKey, GatewayPlan
from controlplane.domain.overrides import isolated
from controlplane.gateway.planning import Around, plan_of
from controlplane.ports import EngineAt

KEYS_S = 5.0  # a key that was revoked is good for so long at most


class Plans:
    """Makes the plan, each time from a look of its own."""

    def __init__(
        self,
        around: Surroundings,
        engines_at: Callable[[], Sequence[EngineAt]],
        store: Store,
        catalogue: Callable[[], Catalogue],
    ) -> None:
        """Nothing is looked at yet."""
        self._around, self._store = around, store
        self._engines_at, self._catalogue = engines_at, catalogue
        self._keys: Sequence[ApiKey] = ()
        self._keys_at = float("-inf")

    async def newest(self) -> GatewayPlan:
        """Give the plan of now; raises UnavailableError while the fleet cannot be seen."""
        view = await self._around.cluster.observe()
        clock = asyncio.get_running_loop().time()
        if clock - self._keys_at >= KEYS_S:
            self._keys, self._keys_at = await self._store.gateway_keys.keys(), clock
        out = isolated(await self._store.overrides.overrides())
        around = Around(keys=self._keys, isolated=out, full=self._around.full())
        return plan_of(view, self._catalogue(), self._engines_at(), around)
