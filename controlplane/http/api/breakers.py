"""Routes: where the breakers stand, what was counted, what comes next."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from controlplane.http.api.of_models import page_of
from controlplane.http.api.route import Call, Route
from controlplane.http.problems import missing
from controlplane.http.reads.breakers import breaker_rows, breaker_settings
from controlplane.http.reads.shapes.breakers import BreakerRow, BreakerSettings


class BreakerFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which breakers to list."""

    model: Annotated[str | None, Meta(description="Only this model's.")] = None
    team: Annotated[str | None, Meta(description="Only those of this team's models.")] = None
    state: Annotated[
        Literal["closed", "open", "half-open", "isolated"] | None,
        Meta(description="Only those in this state."),
    ] = None
    limit: Annotated[int, Meta(ge=1, le=5000, description="At most so many.")] = 1000
    offset: Annotated[int, Meta(ge=0, description="Leave out so many first.")] = 0


async def _breakers(call: Call) -> tuple[BreakerRow, ...]:
    wanted: BreakerFilter = call.params
    rows = await breaker_rows(call.state)
    return page_of(call.state, rows, wanted, lambda row: wanted.state in {None, row.state})


async def _settings(call: Call) -> BreakerSettings:
    found = await breaker_settings(call.state, call.part("name"))
    if found is None:
        raise missing("model", call.part("name"))
    return found


def _table(rows: tuple[BreakerRow, ...]) -> list[dict[str, object]]:
    """Give of the last change its number, its time and its reason."""
    table = []
    for row in rows:
        plain = {name: getattr(row, name) for name in row.__struct_fields__ if name != "last"}
        last = row.last
        changed = {
            "last_id": last and last.id,
            "last_at": last and last.at,
            "last_code": last and last.reason.code,
        }
        table.append(plain | changed)
    return table


ROUTES = (
    Route(
        method="GET",
        path="/breakers",
        summary="Each model's breaker: its state, since when, what was counted, what comes next.",
        run=_breakers,
        answer=tuple[BreakerRow, ...],
        tag="models",
        params=BreakerFilter,
        table=_table,
    ),
    Route(
        method="GET",
        path="/breakers/{name}/settings",
        summary="How the balancer treats a model's replicas: as rendered, and what runs otherwise.",
        run=_settings,
        answer=BreakerSettings,
        tag="models",
    ),
)
