"""`controlplane render`: what KEDA, an HPA, Istio or Envoy would be given for a model, as YAML."""

from pathlib import Path
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from controlplane.cli.cluster_names import Namespace
from controlplane.cli.engines_option import ENGINE, EngineArgument
from controlplane.cli.rendered_envoy import SITE, TICKET, envoy_config
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.handover import TriggerKind
from controlplane.domain.quantities import ModelName
from controlplane.render.destination_rule import destination_rule
from controlplane.render.hpa import hpas
from controlplane.render.scaled_object import Hold, bounds, scaled_objects
from controlplane.render.triggers import NoTriggerError
from controlplane.settings import load_catalogue
from controlplane.settings.manifests import manifests_text
from controlplane.shipped import shipped

ONLY_FOR = {  # an option, and for whom it says anything
    "trigger": ("keda",),
    "paused": ("keda",),
    "held_at": ("keda",),
    "replicas": ("istio", "envoy"),
    "engines": ("envoy",),
}
TRIGGERS = ("target", "drain", "wait_p99", "weighted_depth", "prometheus")
EPILOG = """\b
Examples:
  controlplane render llama-70b --for keda | kubectl apply --dry-run=server -f -
  controlplane render llama-70b --for keda --trigger weighted_depth
  controlplane render llama-70b --for istio --replicas 4
  controlplane render llama-70b --for envoy --engine llama-70b=10.0.0.7:8000
"""


@click.command(epilog=EPILOG)
@click.argument("model")
@click.option(
    "--for",
    "whom",
    required=True,
    type=click.Choice(["keda", "hpa", "istio", "envoy"]),
    help="Who is to act: ScaledObjects, HorizontalPodAutoscalers, a DestinationRule, or Envoy's"
    " own configuration.",
)
@click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="CONTROLPLANE_CONFIG",
    show_envvar=True,
    help="The fleet file; default: the example that ships with the product.",
)
@click.option(
    "--namespace",
    type=Namespace(),
    envvar="CONTROLPLANE_NAMESPACE",
    default="controlplane",
    show_default=True,
    help="Namespace of the Deployments.",
)
@click.option(
    "--trigger",
    type=click.Choice(TRIGGERS),
    help="KEDA: what it decides on; default: as the fleet file says.",
)
@click.option("--paused", is_flag=True, help="KEDA: it leaves the number alone.")
@click.option("--held-at", type=click.IntRange(min=0), help="KEDA: it holds this number.")
@click.option(
    "--replicas",
    type=click.IntRange(min=0),
    help="Istio, Envoy: replicas in service; default: min.",
)
@click.option(
    "--engine",
    "engines",
    type=ENGINE,
    multiple=True,
    metavar="MODEL=HOST:PORT[/SLOTS]",
    help="Envoy: a replica of MODEL, may be given again; default: its Service.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a List, or Envoy's object.")
def command(
    model: str,
    whom: str,
    config: Path | None,
    namespace: str,
    as_json: bool,
    **more: Any,
) -> None:
    """Print what is to be applied for MODEL. Nothing is applied."""
    _refuse_what_says_nothing(whom)
    catalogue = load_catalogue(config or shipped("examples") / "fleet.yaml")
    name = ModelName(model)
    if name not in catalogue.models:
        rule = f"is no model of the fleet file, which has {', '.join(sorted(catalogue.models))}"
        raise FaultsError([Fault("MODEL", None, "", model, rule)])
    if whom == "envoy":
        _print_envoy(name, catalogue, namespace, as_json=as_json, **more)
        return
    try:
        manifests = _rendered(name, whom, catalogue, namespace, more)
    except NoTriggerError as error:
        raise FaultsError([Fault("--trigger", None, "", "", str(error))]) from error
    if as_json:
        listed = {"apiVersion": "v1", "kind": "List", "items": manifests}
        click.echo(msgspec.json.format(msgspec.json.encode(listed), indent=2).decode())
        return
    click.echo(manifests_text(manifests), nl=False)
    if whom in {"keda", "hpa"} and catalogue.models[name].policy.scaling.writer != whom:
        click.echo(
            f"note: models.{name}.policy.scaling.writer is "
            f"{catalogue.models[name].policy.scaling.writer}: set it to {whom} before applying "
            "this, for a target has one writer",
            err=True,
        )


def _refuse_what_says_nothing(whom: str) -> None:
    """Refuse an option that was given and would be passed over in silence."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if whom not in ONLY_FOR.get(name, (whom,)):
            given = context.get_parameter_source(name)
            if given is not ParameterSource.DEFAULT:
                others = " or ".join(f"--for {other}" for other in ONLY_FOR[name])
                raise click.UsageError(f"{parameter.opts[0]} is for {others}, not --for {whom}")


def _print_envoy(
    name: ModelName,
    catalogue: Catalogue,
    namespace: str,
    *,
    as_json: bool,
    engines: tuple[EngineArgument, ...],
    replicas: int | None,
    **_: Any,
) -> None:
    others = [engine.model for engine in engines if engine.model != name]
    if others:
        rule = f"is not {name}, whose configuration this is"
        raise FaultsError([Fault("--engine", None, "", model, rule) for model in others])
    config = envoy_config(name, catalogue, namespace, engines, replicas)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(config), indent=2).decode())
    else:
        click.echo(manifests_text([config]), nl=False)
    click.echo(
        f"note: requests pass by admission at {SITE.workers[0][0]}, whose tickets say "
        f"{TICKET} here: set both as your gateway has them",
        err=True,
    )
    if not engines:
        click.echo(
            "note: the one endpoint is the model's Service; name each replica with --engine for "
            "Envoy to choose among them and to leave the sick ones alone",
            err=True,
        )


def _rendered(
    name: ModelName, whom: str, catalogue: Catalogue, namespace: str, more: dict[str, Any]
) -> list[dict[str, Any]]:
    if whom == "istio":
        return [destination_rule(name, catalogue, namespace, more["replicas"])]
    if whom == "hpa":
        return hpas(name, catalogue, namespace)
    held = Hold(paused=more["paused"], replicas=more["held_at"])
    trigger: TriggerKind | None = more["trigger"]
    _, most = bounds(catalogue.models[name], trigger or catalogue.keda.trigger)
    if held.replicas is not None and held.replicas > most:
        rule = f"is more than {name} may have, {most}"
        raise FaultsError([Fault("--held-at", None, "", str(held.replicas), rule)])
    return scaled_objects(name, catalogue, namespace, trigger, held)
