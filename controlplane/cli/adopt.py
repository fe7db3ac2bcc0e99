"""`controlplane adopt`: take over a Deployment that was there before, or give it back.

Without --yes nothing is changed: what would be is printed, for people or as JSON.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict, Unpack

import click
import msgspec

from controlplane.adapters.kubernetes.adoption import (
    Adoption,
    NotAdoptableError,
    carry_out,
    plan,
    plan_undo,
)
from controlplane.adapters.kubernetes.client import Api, open_api
from controlplane.adapters.kubernetes.connecting import AddressError
from controlplane.adapters.kubernetes.refusals import RefusedError
from controlplane.cli.reaching import kubeconfig_option
from controlplane.cli.stored import json_option
from controlplane.clock import wall
from controlplane.domain.catalogue import is_name
from controlplane.ports import UnavailableError

USUAL = Path("~/.kube/config")


class Asked(TypedDict):
    """What the options say."""

    model: str | None
    node_class: str | None
    kubeconfig: Path | None
    yes: bool
    undo: bool
    as_json: bool


class Where(click.ParamType[tuple[str, str]]):
    """A Deployment as NAMESPACE/NAME."""

    name = "namespace/name"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Give namespace and name."""
        namespace, slash, name = str(value).partition("/")
        if not (slash and namespace and name) or "/" in name:
            self.fail(f"{value!r} is not NAMESPACE/NAME, e.g. models/chat.", param, ctx)
        return namespace, name


@click.command(
    epilog="Example: controlplane adopt models/chat --model chat --class T4 (then again with --yes)"
)
@click.argument("deployment", type=Where(), metavar="NAMESPACE/NAME")
@click.option("--model", help="The model in the catalogue whose variant it is.")
@click.option("--class", "node_class", help="The node class in the catalogue it runs on.")
@kubeconfig_option
@click.option("--yes", is_flag=True, help="Do it. Without this, only show what would change.")
@click.option("--undo", is_flag=True, help="Give it back: everything as it was noted.")
@json_option
def command(deployment: tuple[str, str], **asked: Unpack[Asked]) -> None:
    """Take over an existing Deployment: its number, its pods' lanes, the Services before it.

    Its pods are not replaced and go on serving. What scales it now (an HPA, a KEDA ScaledObject)
    must be deleted first. Who would write it again (Helm, Argo CD, Flux) is a warning. In the
    fleet file, the variant names it as `deployment`.
    """
    if not asked["undo"]:
        for option, value in (("--model", asked["model"]), ("--class", asked["node_class"])):
            if value is None:
                raise click.UsageError(f"{option} is missing: whose variant is it?")
            if not is_name(value):
                raise click.BadParameter(f"{value!r} is no name a catalogue has", param_hint=option)
    try:
        adoption = asyncio.run(_adopt(deployment, asked))
    except (NotAdoptableError, AddressError, UnavailableError, RefusedError) as cause:
        raise click.ClickException(str(cause)) from cause
    if asked["as_json"]:
        told = {**msgspec.to_builtins(adoption), "changed": asked["yes"]}
        click.echo(msgspec.json.encode(told).decode())
        return
    _tell(adoption, asked)


async def _adopt(deployment: tuple[str, str], asked: Asked) -> Adoption:
    api = await open_api(_kubeconfig(asked["kubeconfig"]))
    try:
        adoption = await _planned(api, deployment, asked)
        if asked["yes"]:
            await carry_out(api, adoption)
    finally:
        await api.close()
    return adoption


async def _planned(api: Api, deployment: tuple[str, str], asked: Asked) -> Adoption:
    if asked["undo"]:
        return await plan_undo(api, *deployment)
    whose = (asked["model"] or "", asked["node_class"] or "")
    return await plan(api, deployment, whose, wall())


def _kubeconfig(given: Path | None) -> Path | None:
    """Give the file to use: the one named, the usual one, or none inside a cluster."""
    if given is not None or "KUBERNETES_SERVICE_HOST" in os.environ:
        return given
    return USUAL.expanduser()


def _tell(adoption: Adoption, asked: Asked) -> None:
    for warning in adoption.warnings:
        click.echo(f"warning: {warning}", err=True)
    for line in _lines(adoption, asked):
        click.echo(line)


def _lines(adoption: Adoption, asked: Asked) -> Iterator[str]:
    where = f"{adoption.namespace}/{adoption.name}"
    for edit in adoption.edits:
        yield f"{edit.kind} {adoption.namespace}/{edit.name}"
        yield from (f"  {line}" for line in edit.lines)
    if not asked["yes"]:
        yield "Nothing was changed. --yes does it."
    elif asked["undo"]:
        yield f"{where} is given back; take `deployment` out of the fleet file."
    else:
        variant = f"models.{asked['model']}.variants.{asked['node_class']}"
        yield (
            f"{where} is adopted; put deployment: {adoption.name} under {variant} of the fleet "
            f"file. controlplane adopt {where} --undo --yes gives it back."
        )
