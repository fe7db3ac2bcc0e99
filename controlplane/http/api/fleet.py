"""Routes: the fleet and its models."""

from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from controlplane.http.api.route import Call, Route
from controlplane.http.problems import missing
from controlplane.http.reads.detail import model_detail
from controlplane.http.reads.fleet import fleet, node_lines
from controlplane.http.reads.models import model_rows
from controlplane.http.reads.series import series
from controlplane.http.reads.shapes.fleet import Fleet, NodeLine
from controlplane.http.reads.shapes.models import ModelDetail, ModelRow, Series


class ModelFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which models to list."""

    team: Annotated[str | None, Meta(description="Only models of this team.")] = None
    kind: Annotated[str | None, Meta(description="Only models of this kind.")] = None
    q: Annotated[str | None, Meta(description="Part of the name.")] = None
    limit: Annotated[int, Meta(ge=1, le=5000, description="At most so many.")] = 1000
    offset: Annotated[int, Meta(ge=0, description="Leave out so many first.")] = 0


class Window(msgspec.Struct, frozen=True):
    """How far back the charts reach."""

    minutes: Annotated[float, Meta(gt=0, le=1440, description="The last so many minutes.")] = 60.0


async def _fleet(call: Call) -> Fleet:
    return await fleet(call.state)


async def _nodes(call: Call) -> tuple[NodeLine, ...]:
    return tuple(node_lines(await fleet(call.state)))


async def _models(call: Call) -> tuple[ModelRow, ...]:
    wanted: ModelFilter = call.params
    rows = [
        row
        for row in await model_rows(call.state)
        if wanted.team in {None, row.team}
        and wanted.kind in {None, row.kind}
        and (not wanted.q or wanted.q.lower() in row.name.lower())
    ]
    return tuple(rows[wanted.offset : wanted.offset + wanted.limit])


async def _model(call: Call) -> ModelDetail:
    name = call.part("name")
    detail = await model_detail(call.state, name)
    if detail is None:
        raise missing("model", name)
    return detail


async def _series(call: Call) -> Series:
    name = call.part("name")
    since = call.state.clock.now() - call.params.minutes * 60
    found = await series(call.state, name, since)
    if found is None:
        raise missing("model", name)
    return found


def _model_table(rows: Iterable[ModelRow]) -> Iterable[dict[str, Any]]:
    """Give the rows without the points of their drawings."""
    for row in rows:
        yield {
            name: getattr(row, name)
            for name in row.__struct_fields__
            if name not in {"drain_points", "wait_points", "last", "classes"}
        } | {f"{of_class.priority}": of_class for of_class in row.classes}


def _series_table(found: Series) -> Iterable[dict[str, Any]]:
    """Give one row per moment."""
    by_class = ("arrivals", "queue", "wait_p99", "latency_p99", "lanes")
    plain = ("drain_s", "memory", "utilisation", "target")
    for index, at in enumerate(found.at):
        row: dict[str, Any] = {"at": at}
        row |= {name: getattr(found, name)[index] for name in plain}
        for name in by_class:
            lines = getattr(found, name)
            row |= {f"{name}_{key}": values[index] for key, values in lines.items()}
        yield row


ROUTES = (
    Route(
        method="GET",
        path="/fleet",
        summary="What needs attention, the fleet in four figures, every device, every model.",
        run=_fleet,
        answer=Fleet,
        tag="fleet",
        table=lambda found: _model_table(found.models),
    ),
    Route(
        method="GET",
        path="/nodes",
        summary="The nodes: class, devices, who holds them, what is odd; also those of no class.",
        run=_nodes,
        answer=tuple[NodeLine, ...],
        tag="fleet",
        table=lambda found: found,
    ),
    Route(
        method="GET",
        path="/models",
        summary="The models, most important first.",
        run=_models,
        answer=tuple[ModelRow, ...],
        tag="models",
        params=ModelFilter,
        table=_model_table,
    ),
    Route(
        method="GET",
        path="/models/{name}",
        summary="One model: where it can run, its replicas, spare, decisions and cost today.",
        run=_model,
        answer=ModelDetail,
        tag="models",
    ),
    Route(
        method="GET",
        path="/models/{name}/series",
        summary="The charts of a model on one time axis; null is a gap.",
        run=_series,
        answer=Series,
        tag="models",
        params=Window,
        table=_series_table,
    ),
)
