"""`controlplane match`: which node classes each model fits, and why not the others."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from controlplane.decide.placement.matching import Match, match
from controlplane.domain.reasons import Evidence
from controlplane.render.sentences import clause
from controlplane.settings.fleet import load_catalogue


@click.command(epilog="Example: controlplane match fleet.yaml --model sdxl")
@click.argument("fleet", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--model", "models", multiple=True, help="Only this model; may be given again.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def command(fleet: Path, models: tuple[str, ...], as_json: bool) -> None:
    """Judge every node class for every model of FLEET: the cheapest that suffices comes first."""
    catalogue = load_catalogue(fleet)
    unknown = [name for name in models if name not in catalogue.models]
    if unknown:
        raise click.BadParameter(
            f"{unknown[0]} is no model of {fleet}: {', '.join(catalogue.models)}",
            param_hint="--model",
        )
    verdicts = {
        name: match(name, model, catalogue)
        for name, model in catalogue.models.items()
        if not models or name in models
    }
    if as_json:
        plain = {name: [_plain(verdict) for verdict in of] for name, of in verdicts.items()}
        click.echo(msgspec.json.encode(plain).decode())
        return
    click.echo(
        "\n\n".join("\n".join(_lines(n, v, catalogue.currency)) for n, v in verdicts.items())
    )


def _plain(verdict: Match) -> dict[str, Any]:
    cost = verdict.hourly_cost
    return {
        "node_class": verdict.node_class,
        "fits": verdict.fits,
        "devices": verdict.devices,
        "hourly_cost": None if cost is None else float(cost),
        "reasons": [
            {"code": remark.code.value, "evidence": _evidence(remark.evidence)}
            for remark in verdict.reasons
        ],
    }


def _evidence(evidence: Sequence[Evidence]) -> dict[str, Any]:
    """Write evidence by name; what it was held against stands as `…_limit`."""
    written: dict[str, Any] = {}
    for seen in evidence:
        written[seen.name] = seen.value
        if seen.limit is not None:
            written[f"{seen.name}_limit"] = seen.limit
    return written


def _lines(name: str, verdicts: Sequence[Match], currency: str) -> Iterator[str]:
    yield name
    for verdict in verdicts:
        said = "; ".join(clause(remark.code, remark.evidence) for remark in verdict.reasons)
        if verdict.fits:
            place = f"{verdict.devices} x {verdict.node_class}"
            price = f"{verdict.hourly_cost:.2f} {currency}/h"
        else:
            place, price = verdict.node_class, "-"
        yield f"  {'yes' if verdict.fits else 'no ':<3}  {place:<20} {price:>14}  {said}"
