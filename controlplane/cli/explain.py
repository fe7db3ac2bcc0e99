"""`controlplane explain`: why a decision came out as it did, and whether it still would."""

import asyncio
from collections.abc import Iterator
from typing import Any

import click
import msgspec

from controlplane.adapters.sql.opening import open_store
from controlplane.cli.decision_json import whole
from controlplane.cli.stored import data_option, json_option, language_option, place
from controlplane.decide.replay import decide_again
from controlplane.domain.decisions import Choice
from controlplane.domain.differences import Difference, altered, differences
from controlplane.domain.faults import Fault, FaultsError
from controlplane.ports import DecisionRow

IDENTICAL = "identical"
LARGEST = 2**63 - 1  # what a database can number


@click.command(epilog="Example: controlplane explain 4711")
@click.argument("number", metavar="ID", type=click.IntRange(min=1, max=LARGEST))
@json_option
@language_option
@data_option
def command(number: int, as_json: bool, language: str, data: str | None) -> None:
    """Show decision ID: each rule that spoke, what was refused, what was done.

    It is decided again from its stored input by the code of today: "identical", or the difference.
    """
    row = asyncio.run(_read(data, number))
    if row is None:
        raise FaultsError([Fault("ID", None, "", str(number), "no decision has this number")])
    told = {**whole(row, language), "replay": replay(row)}
    if as_json:
        click.echo(msgspec.json.encode(told).decode())
        return
    for said in _lines(told):
        click.echo(said)


async def _read(data: str | None, number: int) -> DecisionRow | None:
    async with open_store(place(data)) as store:
        return await store.decisions.decision(number)


def replay(row: DecisionRow) -> str | list[Difference] | dict[str, str]:
    """Decide again: `identical`, the differences, or why it cannot be done."""
    try:
        again = decide_again(row.loop, row.seen)
    except (ValueError, TypeError, LookupError, ArithmeticError) as fault:
        # An input that was altered may be one that no rule can bear; that shows too.
        return {"impossible": str(fault) or type(fault).__name__}
    stored = Choice(
        subject=row.subject,
        current=row.current,
        target=row.target,
        trail=row.trail,
        refused=row.refused,
        actions=row.actions,
    )
    return [*altered(row.seen, row.digest), *differences(stored, again)] or IDENTICAL


def _lines(told: dict[str, Any]) -> Iterator[str]:
    yield told["sentence"]
    version = told["catalogue_version"]
    yield f"{told['at']}  {told['loop']}  catalogue {version}  world {told['world']}"
    yield ""
    yield f"{told['current']:>6}  now"
    for reason in told["trail"]:
        yield f"{reason['after']:>6}  {reason['sentence']}  {reason['code']}"
    yield f"{told['target']:>6}  target"
    for refusal in told["refused"]:
        yield f"     -  {refusal['option']}: {refusal['sentence']}  {refusal['code']}"
    yield ""
    yield f"ending: {told['ending']}{': ' * bool(told['note'])}{told['note']}"
    if told["repeats"]:
        yield f"decided again {told['repeats']} times, last {told['last_at']}"
    yield from _replayed(told["replay"])


def _replayed(verdict: str | list[Difference] | dict[str, str]) -> Iterator[str]:
    if isinstance(verdict, str):
        yield f"replay: {verdict}"
    elif isinstance(verdict, dict):
        yield f"replay: impossible: {verdict['impossible']}"
    else:
        yield "replay: different"
        for found in verdict:
            yield f"  {found.field}: stored {found.stored or '-'}, now {found.now or '-'}"
