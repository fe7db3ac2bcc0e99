"""`python -m tests.cluster`: run a command beside a test cluster, or keep one up for developers."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from tests.cluster import modules, namespace, programs
from tests.cluster.handed import VARIABLE, WHY_NOT
from tests.cluster.keeper import keep
from tests.cluster.programs import KEDA, PLANE, MissingError, cache, say

_ANYTHING = {"ignore_unknown_options": True, "allow_interspersed_args": False}
_NAME = click.option("--name", default="default", help="Several clusters may be up at a time.")
_KEDA = click.option("--keda", is_flag=True, help="Build KEDA too, for tests that start it.")
_COMMAND = click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)


@click.group()
def main() -> None:
    """Bring up a real Kubernetes in a network namespace of its own."""


@main.command()
@_KEDA
def build(*, keda: bool) -> None:
    """Build what the cluster needs, once."""
    try:
        _build(keda=keda)
    except MissingError as error:
        raise click.ClickException(str(error)) from None


@main.command(context_settings=_ANYTHING)
@_KEDA
@_COMMAND
def run(*, keda: bool, command: Sequence[str]) -> None:
    """Run a command inside, e.g. `run -- pytest tests/cluster`; without a cluster, tests skip."""
    try:
        _build(keda=keda)
        namespace.check()
    except MissingError as error:
        if os.environ.get("CI"):
            raise click.ClickException(f"no test cluster: {error}") from None
        say(f"none, so its tests are skipped: {error}")
        environment = {**os.environ, WHY_NOT: f"no test cluster: {error}"}
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)
    sys.exit(_inside(["keep", "--", *command]))


@main.command()
@_NAME
@_KEDA
def up(name: str, *, keda: bool) -> None:
    """Keep a cluster up until Ctrl-C; `enter` gets at it."""
    try:
        _build(keda=keda)
        namespace.check()
    except MissingError as error:
        raise click.ClickException(str(error)) from None
    place = _place(name)
    if namespace.lives(place.with_suffix(".pid")):
        raise click.ClickException(f"{name}: is up already; choose another --name")
    place.unlink(missing_ok=True)
    say(f"use it with: python -m tests.cluster enter --name {name} -- kubectl get nodes")
    try:
        sys.exit(_inside(["keep", "--told-at", str(place)], place))
    finally:
        place.unlink(missing_ok=True)
        place.with_suffix(".pid").unlink(missing_ok=True)


@main.command(context_settings=_ANYTHING)
@_NAME
@_COMMAND
def enter(name: str, command: Sequence[str]) -> None:
    """Run a command in the namespace of a cluster that is up, with its kubectl at hand."""
    place = _place(name)
    if not place.exists():
        raise click.ClickException(f"{name}: not up; python -m tests.cluster up --name {name}")
    told = json.loads(place.read_text())
    tools = programs.found()["kubectl"].parent
    environment = {
        **os.environ,
        VARIABLE: str(place),
        "KUBECONFIG": told["admin_kubeconfig"],
        "PATH": f"{tools}:{os.environ['PATH']}",
    }
    keeper = namespace.first_process(int(place.with_suffix(".pid").read_text()))
    inside = namespace.entered(keeper, command)
    sys.exit(subprocess.run(inside, env=environment, check=False).returncode)


@main.command(name="keep", hidden=True, context_settings=_ANYTHING)
@click.option("--told-at", type=click.Path(path_type=Path))
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def keep_command(told_at: Path | None, command: Sequence[str]) -> None:
    """Be the first process of the namespace."""
    sys.exit(asyncio.run(keep(command, told_at)))


def _build(*, keda: bool) -> None:
    programs.build([*PLANE, *(KEDA if keda else ())])
    modules.collect()


def _inside(arguments: Sequence[str], told_at: Path | None = None) -> int:
    """Run ourselves in a new namespace; whoever ends us ends that in order."""
    process = subprocess.Popen(namespace.inside(arguments))
    if told_at is not None:
        told_at.with_suffix(".pid").write_text(str(process.pid))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to the keeper too
    signal.signal(
        signal.SIGTERM, lambda *_: os.kill(namespace.first_process(process.pid), signal.SIGTERM)
    )
    return process.wait()


def _place(name: str) -> Path:
    return cache() / f"up-{name}.json"


if __name__ == "__main__":
    main()
