"""`controlplane status`: how the fleet and the loops are, from the daemon or from the store.

The daemon knows the lanes of every model and which loops are alive. Where it does not answer, the
store still knows what was decided last and what people set.
"""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import click
import msgspec

from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.store import Store
from controlplane.cli.asking import NoAnswerError, ask, daemon_url
from controlplane.cli.stored import data_option, in_force, json_option, moment, place
from controlplane.domain.overrides import Overrides, isolated, paused, pinned
from controlplane.domain.quantities import ModelName
from controlplane.domain.reasons import Reason
from controlplane.ports import DecisionQuery
from controlplane.render.sentences import headline


@click.command(epilog="Example: controlplane status --json")
@click.option(
    "--url",
    envvar="CONTROLPLANE_URL",
    show_envvar=True,
    help="Of the daemon; default: of the one that serves the store.",
)
@json_option
@data_option
def command(url: str | None, as_json: bool, data: str | None) -> None:
    """Say how the fleet is: targets, lanes, pauses, and the last decision about every model."""
    told = asyncio.run(_status(daemon_url(url, data), data))
    if as_json:
        click.echo(msgspec.json.encode(told).decode())
        return
    for said in _lines(told):
        click.echo(said)


async def _status(url: str, data: str | None) -> dict[str, Any]:
    try:
        health, world, models = await ask(url, "/health", "/world", "/models")
    except NoAnswerError as cause:
        note = str(cause)
    else:
        return {
            "source": "daemon",
            "daemon": {
                "url": url,
                "answers": True,
                "note": "",
                **_picked(health, "status", "silent"),
            },
            "world": world["id"],
            "acting": world["acting"],
            "models": [_told_by_daemon(row) for row in models],
        }
    async with open_store(place(data)) as store:
        return {
            "source": "store",
            "daemon": {"url": url, "answers": False, "note": note, "status": None, "silent": []},
            "world": store.world.name,
            "acting": None,
            "models": await _told_by_store(store),
        }


def _picked(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _told_by_daemon(row: Mapping[str, Any]) -> dict[str, Any]:
    last = row["last"]
    said = None
    if last is not None:
        trail = msgspec.convert(last["trail"], tuple[Reason, ...])
        said = {
            "id": last["id"],
            "at": moment(last["at"]),
            "decisive": last["reason"]["code"],
            "sentence": headline(row["name"], last["current"], last["target"], trail),
            "ending": last["ending"],
        }
    names = ("target", "advised", "lanes", "slo_broken", "paused_by", "pinned", "isolated_by")
    return {"model": row["name"], **_picked(row, *names), "last": said}


async def _told_by_store(store: Store) -> list[dict[str, Any]]:
    catalogue, overrides = await in_force(store), await store.overrides.overrides()
    names = () if catalogue is None else catalogue.models
    return [await _model(store, name, overrides) for name in names]


async def _model(store: Store, name: ModelName, overrides: Overrides) -> dict[str, Any]:
    query = DecisionQuery(subject=name, loop="scaling", limit=1)
    rows = await store.decisions.decisions(query)
    pause, pin = paused(overrides, name), pinned(overrides, name)
    row, out = rows[0] if rows else None, isolated(overrides)
    return {
        "model": name,
        "target": row.target if row else None,
        "advised": None,
        "lanes": None,
        "slo_broken": None,
        "paused_by": pause.by if pause else None,
        "pinned": pin.pinned if pin else None,
        "isolated_by": out[name].by if name in out else None,
        "last": row
        and {
            "id": row.id,
            "at": moment(row.at),
            "decisive": row.decisive.value,
            "sentence": headline(name, row.current, row.target, row.trail),
            "ending": row.ending.value,
        },
    }


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    daemon = told["daemon"]
    if daemon["answers"]:
        silent = f": {', '.join(daemon['silent'])}" if daemon["silent"] else ""
        mode = "acting" if told["acting"] else "advisory mode: nothing is written"
        yield f"daemon {daemon['url']}: {daemon['status']}{silent}, {mode}"
    else:
        yield f"daemon {daemon['url']} {daemon['note']}"
        yield "what the store knows:"
    if not told["models"]:
        yield "no model was ever catalogued here"
    for model in told["models"]:
        yield f"{model['model']:<20} {_standing(model)}"
        if model["last"]:
            yield f"{'':<20} {model['last']['at']}  {model['last']['sentence']}"


def _standing(model: Mapping[str, Any]) -> str:
    target, lanes = model["target"], model["lanes"]
    parts = ["no target yet" if target is None else f"target {target}"]
    if model["advised"] not in {None, target}:
        parts.append(f"advised {model['advised']}")
    if lanes:
        parts += [f"{count} {lane}" for lane, count in lanes.items() if count]
    if model["slo_broken"]:
        parts.append("breaks its objective")
    if model["paused_by"]:
        parts.append(f"paused by {model['paused_by']}")
    if model["pinned"] is not None:
        parts.append(f"pinned at {model['pinned']}")
    if model["isolated_by"]:
        parts.append(f"isolated by {model['isolated_by']}")
    return ", ".join(parts)
