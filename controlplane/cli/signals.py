"""`controlplane signals`: each signal of a model, who says so, and who was asked in vain."""

import asyncio
from typing import Any
from urllib.parse import quote

import click
import msgspec

from controlplane.cli.asking import NoAnswerError, ask, daemon_url


@click.command(epilog="Example: controlplane signals llama-70b --queries")
@click.argument("model")
@click.option("--url", envvar="CONTROLPLANE_URL", show_envvar=True, help="The daemon's address.")
@click.option("--queries", is_flag=True, help="Print the queries that were asked, too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(model: str, url: str | None, queries: bool, as_json: bool) -> None:
    """Say where each signal of MODEL comes from, how old it is, and why others were passed over."""
    where = daemon_url(url)
    try:
        (found,) = asyncio.run(ask(where, f"/models/{quote(model, safe='')}/signals"))
    except NoAnswerError as error:
        raise click.ClickException(f"the daemon at {where} {error}") from error
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
        return
    for signal in found["signals"]:
        click.echo(_line(signal))
        for over in signal["passed_over"]:
            click.echo(f"    {over['source']} was passed over: {over['why']}")
        if queries and signal["query"]:
            click.echo(f"    {signal['query']}")
    for note in found["notes"]:
        click.echo(f"note: {note}", err=True)


def _line(signal: dict[str, Any]) -> str:
    source = signal["source"] or "-"
    if signal["value"] is None:
        return f"{signal['signal']:<13} {'-':>12}  {source:<11} {signal['why']}"
    age = "" if signal["age_s"] is None else f"{signal['age_s']:.0f} s old"
    return f"{signal['signal']:<13} {signal['value']:>12.6g}  {source:<11} {age}"
