"""`controlplane pause`: stop acting, at once."""

import asyncio

import click
import msgspec

from controlplane.cli.overriding import called, in_force, override, subject_of
from controlplane.cli.stored import data_option


@click.command(epilog="Example: controlplane pause sdxl")
@click.argument("model", required=False)
@click.option("--all", "whole_fleet", is_flag=True, help="Pause every model.")
@data_option
def command(model: str | None, whole_fleet: bool, data: str | None) -> None:
    """Stop acting on MODEL. Deciding and showing go on; a restart does not end a pause."""
    subject = subject_of(model, whole_fleet)
    _, overrides = asyncio.run(
        override(data, subject, lambda held, _: msgspec.structs.replace(held, paused=True))
    )
    click.echo(f"{called(subject)}: paused; a running daemon stops acting within one cycle")
    for said in in_force(subject, overrides):
        click.echo(said)
