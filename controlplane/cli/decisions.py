"""`controlplane decisions`: what was decided, newest first."""

import asyncio
import csv
import sys
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from controlplane.adapters.sql.opening import open_store
from controlplane.cli.decision_json import line
from controlplane.cli.stored import (
    catalogued,
    data_option,
    json_option,
    language_option,
    place,
)
from controlplane.ports import DecisionQuery, DecisionRow

COLUMNS = (
    "id", "at", "loop", "subject", "current", "target",
    "decisive", "sentence", "ending", "repeats", "last_at",
)  # fmt: skip


@click.command(epilog="Example: controlplane decisions --model sdxl --limit 20")
@click.option("--model", metavar="MODEL", help="Only decisions about this model.")
@click.option("--loop", metavar="LOOP", help="Only decisions of this loop, e.g. scaling.")
@click.option("--moved", is_flag=True, help="Only decisions that changed a target.")
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="At most."
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@json_option
@language_option
@data_option
def command(**given: Any) -> None:
    """List decisions of the world that was opened last, newest first."""
    if given["as_csv"] and given["as_json"]:
        raise click.UsageError("--csv and --json exclude each other")
    query = DecisionQuery(
        subject=given["model"], loop=given["loop"], moved_only=given["moved"], limit=given["limit"]
    )
    rows = asyncio.run(_read(given["data"], query))
    lines = [line(row, given["language"]) for row in rows]
    if given["as_json"]:
        click.echo(msgspec.json.encode(lines).decode())
    elif given["as_csv"]:
        _write_csv(lines)
    else:
        _write_lines(lines)


async def _read(data: str | None, query: DecisionQuery) -> Sequence[DecisionRow]:
    async with open_store(place(data)) as store:
        rows = await store.decisions.decisions(query)
        if not rows and query.subject is not None:
            await catalogued(store, query.subject)  # nothing decided yet, or a slip of the pen
        return rows


def _write_csv(lines: Sequence[dict[str, Any]]) -> None:
    table = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(lines)


def _write_lines(lines: Sequence[dict[str, Any]]) -> None:
    if not lines:
        click.echo("nothing was decided yet")
    for said in lines:
        again = f" (+{said['repeats']} times, last {said['last_at']})" if said["repeats"] else ""
        ending = "" if said["ending"] == "done" else f" [{said['ending']}]"
        click.echo(
            f"{said['id']:>8}  {said['at']}  {said['loop']:<9}  {said['sentence']}{ending}{again}"
        )
