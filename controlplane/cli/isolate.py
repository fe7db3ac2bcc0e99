"""`controlplane isolate`: take a model out of traffic."""

import asyncio

import click
import msgspec

from controlplane.cli.callers import model_name
from controlplane.cli.overriding import in_force, override
from controlplane.cli.stored import data_option, who
from controlplane.clock import wall
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.overrides import Isolation, Override

LONGEST = 200  # characters of a reason


@click.command(
    epilog='Example: controlplane isolate sdxl --reason "corrupt weights" '
    "(and later: controlplane isolate sdxl --off)"
)
@click.argument("model")
@click.option("--reason", default="", metavar="TEXT", help="Why, in your words; it is shown.")
@click.option("--off", is_flag=True, help="Let it take requests again.")
@data_option
def command(model: str, reason: str, off: bool, data: str | None) -> None:
    """Take MODEL out of traffic: its requests are refused at once, with 503 and a reason.

    What runs or waits already is served to its end. Replicas stay as they are, and a restart does
    not end it.
    """
    if reason and off:
        raise click.UsageError("--reason goes with an isolation, not with its end")
    if len(reason) > LONGEST:
        rule = f"has {len(reason)} characters, and {LONGEST} are allowed"
        raise FaultsError([Fault("--reason", None, "", reason[:40], rule)])

    model_name("MODEL", model)

    def alter(held: Override, catalogue: Catalogue | None) -> Override:
        del catalogue
        isolation = None if off else Isolation(by=who(), at=wall(), why=reason.strip())
        return msgspec.structs.replace(held, isolated=isolation)

    _, overrides = asyncio.run(override(data, model, alter, uncatalogued=True))
    done = "takes requests again" if off else "isolated"
    click.echo(f"{model}: {done}; a running daemon's gateway sees it within seconds")
    for said in in_force(model, overrides):
        click.echo(said)
