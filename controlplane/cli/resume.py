"""`controlplane resume`: act again."""

import asyncio

import click
import msgspec

from controlplane.cli.overriding import called, in_force, override, subject_of
from controlplane.cli.stored import data_option


@click.command(epilog="Example: controlplane resume --all")
@click.argument("model", required=False)
@click.option("--all", "whole_fleet", is_flag=True, help="End the pause of the whole fleet.")
@data_option
def command(model: str | None, whole_fleet: bool, data: str | None) -> None:
    """Act on MODEL again.

    --all ends the pause of the whole fleet; models that were paused one by one stay paused, and are
    named.
    """
    subject = subject_of(model, whole_fleet)
    _, overrides = asyncio.run(
        override(data, subject, lambda held, _: msgspec.structs.replace(held, paused=False))
    )
    click.echo(f"{called(subject)}: resumed")
    for said in in_force(subject, overrides):
        click.echo(said)
