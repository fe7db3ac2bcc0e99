"""Routes: who waits where, and what became of those who came."""

from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from controlplane.domain.queues import REFUSALS
from controlplane.http.api.of_models import page_of
from controlplane.http.api.route import Call, Route
from controlplane.http.reads.queues import queue_rows
from controlplane.http.reads.shapes.queues import QueueRow


class QueueFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which queues to list."""

    model: Annotated[str | None, Meta(description="Only the queues of this model.")] = None
    team: Annotated[str | None, Meta(description="Only those of this team's models.")] = None
    waiting: Annotated[bool, Meta(description="Only those where somebody waits.")] = False
    limit: Annotated[int, Meta(ge=1, le=15_000, description="At most so many.")] = 3000
    offset: Annotated[int, Meta(ge=0, description="Leave out so many first.")] = 0


async def _queues(call: Call) -> tuple[QueueRow, ...]:
    wanted: QueueFilter = call.params
    rows = await queue_rows(call.state)
    return page_of(call.state, rows, wanted, lambda row: row.waiting.value or not wanted.waiting)


def _table(rows: Iterable[QueueRow]) -> Iterable[dict[str, Any]]:
    """Give the same columns whatever was refused."""
    maps = {"refused_by", "refused_before", "tenants"}
    for row in rows:
        plain = {name: getattr(row, name) for name in row.__struct_fields__ if name not in maps}
        counted = row.refused.value is not None
        lately = {f"refused_{c}": row.refused_by.get(c, 0) if counted else None for c in REFUSALS}
        yield plain | lately | {"tenants": "; ".join(f"{t}: {n}" for t, n in row.tenants.items())}


ROUTES = (
    Route(
        method="GET",
        path="/queues",
        summary="Every class of every model: who waits, admitted, refused by reason, aged.",
        run=_queues,
        answer=tuple[QueueRow, ...],
        tag="models",
        params=QueueFilter,
        table=_table,
    ),
)
