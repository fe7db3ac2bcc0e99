"""Routes: how the daemon is, and which world it looks at."""

import msgspec

from controlplane.domain.quantities import Instant
from controlplane.http.api.route import Call, Route
from controlplane.http.health import Health, health


class World(msgspec.Struct, frozen=True, kw_only=True):
    """What the daemon looks at."""

    id: str
    cluster: str
    acting: bool
    leader: str
    leading: bool  # whether it is this daemon
    now: Instant
    speed: float
    currency: str
    nodes: int | None
    replicas: int | None
    observed_at: Instant | None


async def _health(call: Call) -> Health:
    return health(call.state)


async def _world(call: Call) -> World:
    state = call.state
    view = state.history.view
    return World(
        id=state.world,
        cluster=state.cluster,
        acting=state.acting,
        leader=state.leader,
        leading=state.leadership.leading,
        now=state.clock.now(),
        speed=state.clock.rate,
        currency=state.in_force.catalogue.currency,
        nodes=len(view.nodes) if view is not None and isinstance(view.nodes, tuple) else None,
        replicas=len(view.replicas) if view is not None else None,
        observed_at=view.at if view is not None else None,
    )


ROUTES = (
    Route(
        method="GET",
        path="/health",
        summary="The loops' signs of life.",
        run=_health,
        answer=Health,
        tag="daemon",
    ),
    Route(
        method="GET",
        path="/world",
        summary="The world the daemon looks at: its id, its time, its size.",
        run=_world,
        answer=World,
        tag="daemon",
    ),
)
