"""Is it alive, is it ready, how is it doing: probes, metrics, and the same for people.

A loop that has been silent for three of its periods makes the daemon unhealthy, whatever the rest
says: an autoscaler that looks fine and decides nothing is worse than one that is restarted.
"""

import asyncio

import msgspec
from aiohttp import web

from controlplane.http.reads.attention import silent_loops
from controlplane.http.reads.fleet import fleet_pools
from controlplane.http.state import STATE, State
from controlplane.ports import DecisionQuery
from controlplane.telemetry.metrics import CONTENT_TYPE

STORE_WITHIN_S = 2.0


class LoopHealth(msgspec.Struct, frozen=True, kw_only=True):
    """One loop's signs of life; `age_s` is real time."""

    age_s: float
    period_s: float
    cycles: int
    failures: int
    failure: str
    silent: bool


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """How the daemon is."""

    status: str  # ok, or silent
    silent: tuple[str, ...]
    loops: dict[str, LoopHealth]


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """Whether it can answer, and what is missing."""

    ready: bool
    missing: tuple[str, ...]


def health(state: State) -> Health:
    """Look at the heartbeats."""
    now = asyncio.get_running_loop().time()
    silent = silent_loops(state)
    return Health(
        status="silent" if silent else "ok",
        silent=silent,
        loops={
            name: LoopHealth(
                age_s=now - beat.last,
                period_s=beat.period_s,
                cycles=beat.cycles,
                failures=beat.failures,
                failure=beat.failure,
                silent=name in silent,
            )
            for name, beat in state.heartbeats.beats.items()
        },
    )


async def readiness(state: State) -> Readiness:
    """Say whether the first look at the cluster is there and the store answers."""
    missing = []
    if state.history.view is None:
        missing.append("the cluster was not seen yet")
    try:
        async with asyncio.timeout(STORE_WITHIN_S):
            await state.decisions.decisions(DecisionQuery(limit=1))
    except Exception as error:  # noqa: BLE001 - whatever the store raises, it does not answer
        missing.append(f"the store does not answer ({type(error).__name__})")
    return Readiness(ready=not missing, missing=tuple(missing))


async def healthz(request: web.Request) -> web.Response:
    """Answer 503 with the names of the loops that are silent."""
    found = health(request.app[STATE])
    return _json(found, 503 if found.silent else 200)


async def readyz(request: web.Request) -> web.Response:
    """Answer 503 with what is missing."""
    found = await readiness(request.app[STATE])
    return _json(found, 200 if found.ready else 503)


async def metrics(request: web.Request) -> web.Response:
    """Give what Prometheus scrapes."""
    state = request.app[STATE]
    state.metrics.acting.set(int(state.acting))
    state.metrics.leading.set(int(state.leadership.leading))
    state.metrics.version.set(state.in_force.version.version)
    state.metrics.refused.set(int(bool(state.in_force.faults)))
    state.metrics.catalogued(state.in_force.catalogue.models)
    inventory, pools = await fleet_pools(state)
    for pool in pools:
        state.metrics.inventory(pool.node_class, held=pool.held, devices=pool.devices)
    if inventory is not None:
        state.metrics.devices.clear()  # not known: no series, rather than an old one
    body = state.metrics.scraped(state.heartbeats, asyncio.get_running_loop().time())
    return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE})


def _json(found: Health | Readiness, status: int) -> web.Response:
    return web.Response(
        status=status, body=msgspec.json.encode(found), content_type="application/json"
    )
