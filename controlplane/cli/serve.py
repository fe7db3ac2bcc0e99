"""`controlplane serve`: the daemon."""

import asyncio
import os
from typing import Any

import click
import uvloop

from controlplane.adapters.sql.faults import StoreError
from controlplane.daemon import Daemon, StartError, serve
from controlplane.settings import serve_options
from controlplane.telemetry.logs import configure


@click.command(
    epilog="Example: controlplane serve --config fleet.yaml --port 8080 --speed 10",
)
@click.option("--config", metavar="FILE", help="Fleet file; default: the shipped example.")
@click.option("--host", help="Address to listen on; default 127.0.0.1.")
@click.option("--port", help="Port to listen on, 0 for any; default 8080.")
@click.option("--hosts", metavar="NAMES", help="Names people reach it by, with commas between.")
@click.option("--speed", help="How fast the embedded world's time runs; default 1.")
@click.option("--data", metavar="WHERE", help="Folder of the store, or a postgresql:// address.")
@click.option("--kubeconfig", metavar="FILE", help="Run on this cluster; or in-cluster.")
@click.option("--namespace", help="Namespace of the models; default: the service account's.")
@click.option("--pods", help="own or all: whose pods are watched for devices held; default own.")
@click.option("--mode", help="act or advise; default: act if embedded, else advise.")
@click.option("--prometheus", metavar="URL", help="Ask this Prometheus for signals, too.")
@click.option(
    "--gateway", metavar="HOST:PORT", help="Admit the engines' requests here, by priority."
)
@click.option("--scaler", metavar="HOST:PORT", help="Answer KEDA here, as its external scaler.")
@click.option("--scaler-certificate", metavar="FILE", help="Answer KEDA over TLS with this, PEM.")
@click.option("--scaler-key", metavar="FILE", help="The key of that certificate, PEM.")
@click.option("--scaler-authority", metavar="FILE", help="Who must have signed KEDA's own, PEM.")
@click.option("--alerts", metavar="URL", help="Tell this webhook what needs a person.")
@click.option("--seed", help="Seed of the embedded world's requests; default 1.")
@click.option("--log", help="debug, info, warning or error; default info.")
def command(**given: Any) -> None:
    """Run the daemon: decide, act, and show it on a web page.

    With nothing configured it runs a simulated fleet. Every option can also be given as
    CONTROLPLANE_… in the environment.
    """
    options = serve_options(given, os.environ)
    configure(level=options.log)

    def started(daemon: Daemon) -> None:
        click.echo(f"controlplane is up at {daemon.address}")

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(options, started))
    except (StartError, StoreError) as cause:
        raise click.ClickException(str(cause)) from cause
