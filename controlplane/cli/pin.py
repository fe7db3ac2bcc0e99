"""`controlplane pin`: hold a model at a number of replicas."""

import asyncio

import click
import msgspec

from controlplane.cli.overriding import in_force, override
from controlplane.cli.stored import data_option
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.overrides import Override
from controlplane.domain.quantities import ModelName


@click.command(epilog="Example: controlplane pin sdxl 3 (and later: controlplane pin sdxl --off)")
@click.argument("model")
@click.argument("replicas", type=click.IntRange(min=0), required=False)
@click.option("--off", is_flag=True, help="Let the rules decide again.")
@data_option
def command(model: str, replicas: int | None, off: bool, data: str | None) -> None:
    """Hold MODEL at REPLICAS in service, above every rule and within its bounds."""
    if (replicas is None) != off:
        raise click.UsageError("give REPLICAS, or --off")

    def alter(held: Override, catalogue: Catalogue | None) -> Override:
        if replicas is not None and catalogue is not None:
            _within_bounds(catalogue, model, replicas)
        return msgspec.structs.replace(held, pinned=replicas)

    _, overrides = asyncio.run(override(data, model, alter))
    done = "no longer pinned" if off else f"pinned at {replicas}"
    click.echo(f"{model}: {done}; a running daemon sees it within one cycle")
    for said in in_force(model, overrides):
        click.echo(said)


def _within_bounds(catalogue: Catalogue, model: str, replicas: int) -> None:
    """Refuse what the bounds would clamp anyway: a promise that is not kept helps nobody."""
    bounds = catalogue.models[ModelName(model)].policy.scaling
    if not bounds.min <= replicas <= bounds.max:
        rule = f"is not from {bounds.min} to {bounds.max}, the bounds of {model}"
        raise FaultsError([Fault("REPLICAS", None, "", str(replicas), rule)])
