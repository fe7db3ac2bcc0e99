"""`controlplane import`: read a ScaledObject or an HPA as a policy, and take its number over.

Without --yes nothing is changed.
"""

import asyncio
import os
from pathlib import Path
from typing import TypedDict, Unpack

import click
import msgspec

from controlplane.adapters.kubernetes.client import Api, Manifest, open_api
from controlplane.adapters.kubernetes.connecting import AddressError
from controlplane.adapters.kubernetes.importing import (
    NothingToImportError,
    found,
    give_back,
    take_over,
)
from controlplane.adapters.kubernetes.refusals import RefusedError
from controlplane.cli.cluster_names import Namespaced
from controlplane.cli.reaching import kubeconfig_option
from controlplane.cli.stored import json_option
from controlplane.domain.faults import Fault, FaultsError
from controlplane.ports import UnavailableError
from controlplane.render.importable import unusable
from controlplane.render.imported import Imported, imported
from controlplane.settings import written_text
from controlplane.settings.manifests import manifests_text, read_manifests

USUAL = Path("~/.kube/config")


class Asked(TypedDict):
    """What the options say."""

    file: Path | None
    kubeconfig: Path | None
    yes: bool
    undo: bool
    as_json: bool


@click.command(
    name="import",
    epilog="Example: controlplane import models/chat (then again with --yes); "
    "controlplane import -f chat-scaledobject.yaml",
)
@click.argument("where", type=Namespaced(), metavar="[NAMESPACE/NAME]", required=False)
@click.option(
    "-f", "--file", type=click.Path(path_type=Path), help="Read a manifest instead of the cluster."
)
@kubeconfig_option
@click.option("--yes", is_flag=True, help="Delete it, after noting it on its Deployment.")
@click.option("--undo", is_flag=True, help="NAMESPACE/NAME of the Deployment: give it back.")
@json_option
def command(where: tuple[str, str] | None, **asked: Unpack[Asked]) -> None:
    """Read an existing ScaledObject or HPA: the policy that behaves the same, and what is better.

    Nothing is changed without --yes. A target has one writer: with --yes what scaled it is noted on
    its Deployment and deleted; --undo --yes makes it again as it was.
    """
    file = asked["file"]
    if where is None and file is not None:
        _from_file(file, asked)
    elif where is not None and file is None:
        try:
            asyncio.run(_in_cluster(_kubeconfig(asked["kubeconfig"]), where, asked))
        except (NothingToImportError, AddressError, UnavailableError, RefusedError) as cause:
            raise click.ClickException(str(cause)) from cause
    else:
        raise click.UsageError("name one NAMESPACE/NAME, or a --file")


def _from_file(file: Path, asked: Asked) -> None:
    if asked["yes"] or asked["undo"]:
        raise click.UsageError("--yes and --undo are about a cluster: name NAMESPACE/NAME")
    manifests = read_manifests(written_text(file), str(file))
    if not manifests:
        raise FaultsError([Fault(str(file), None, "", "", "holds no manifest")])
    for read in [_read(manifest, str(file)) for manifest in manifests]:
        _show(read, asked)


def _kubeconfig(given: Path | None) -> Path | None:
    """Give the file to use: the one named, the usual one, or none inside a cluster."""
    if given is not None or "KUBERNETES_SERVICE_HOST" in os.environ:
        return given
    return USUAL.expanduser()


async def _in_cluster(kubeconfig: Path | None, where: tuple[str, str], asked: Asked) -> None:
    api = await open_api(kubeconfig)
    try:
        await (_back if asked["undo"] else _over)(api, *where, asked)
    finally:
        await api.close()


async def _over(api: Api, namespace: str, name: str, asked: Asked) -> None:
    manifest = await found(api, namespace, name)
    read = _read(manifest, f"{namespace}/{name}")
    _show(read, asked)
    if not asked["yes"]:
        click.echo("Nothing was changed. --yes takes the number over.", err=True)
        return
    await take_over(api, manifest)
    click.echo(
        f"{read.kind} {namespace}/{name} is deleted, and noted on Deployment {read.target}; "
        f"controlplane import {namespace}/{read.target} --undo --yes makes it again.",
        err=True,
    )


async def _back(api: Api, namespace: str, name: str, asked: Asked) -> None:
    if not asked["yes"]:
        click.echo(f"would make again what scaled {namespace}/{name}; --yes does it", err=True)
        return
    manifest = await give_back(api, namespace, name)
    click.echo(
        f"{manifest['kind']} {namespace}/{manifest['metadata']['name']} scales {name} again; set "
        "the model's policy.scaling.writer to nobody, or take it out of the fleet file.",
        err=True,
    )


def _read(manifest: Manifest, source: str) -> Imported:
    faults = unusable(manifest, source)
    if faults:
        raise FaultsError(faults)
    return imported(manifest)


def _show(read: Imported, asked: Asked) -> None:
    if asked["as_json"]:
        click.echo(msgspec.json.encode(read).decode())
        return
    click.echo(f"# {read.kind} {read.name}, which scales {read.target}; put under the model:")
    click.echo(manifests_text([{"policy": read.policy}]), nl=False)
    for title, lines in (
        ("has no counterpart", read.lacking),
        ("is wrong with it as it stands", read.faults),
        ("would be better", read.gains),
    ):
        if lines:
            click.echo(f"# What {title}:")
            for line in lines:
                click.echo(f"#   {line}")
