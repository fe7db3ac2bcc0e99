"""`controlplane gateway`: priority admission in front of engines; keys of its callers."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import click
import msgspec
from prometheus_client import CollectorRegistry

from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.store import Store
from controlplane.cli.callers import checked, model_name
from controlplane.cli.engines_option import ENGINE, EngineArgument
from controlplane.cli.figures import PORT, PROCESSES
from controlplane.cli.gateway_pod import FOLDER, envoy, envoy_option, join, leave
from controlplane.cli.shared_option import shared_address, shared_options
from controlplane.cli.stored import data_option, json_option, place, who
from controlplane.clock import wall
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.gateway import ApiKey, GatewayPlan
from controlplane.domain.handover import is_host_port
from controlplane.domain.overrides import Isolation, isolated
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import ModelName
from controlplane.gateway.envoy import EnvoyError
from controlplane.gateway.gateway import Gateway
from controlplane.gateway.planning import static_plan
from controlplane.gateway.scraped import scraped
from controlplane.gateway.site import GatewayOptions, alone, made, refuse_name, refuse_unguarded
from controlplane.gateway.written import put_all
from controlplane.http.auth import new_secret, secret_hash
from controlplane.ports import AuditEntry, UnavailableError
from controlplane.render.envoy import Site, bootstrap, plan_faults, xds_files
from controlplane.settings import folder_beside
from controlplane.settings.fleet import load_catalogue

Plan: TypeAlias = Callable[[Sequence[ApiKey], Mapping[ModelName, Isolation]], GatewayPlan]
LOOKS_S = 2.0  # a key that was revoked, a model that was isolated, is followed within this
WORKER = "controlplane.cli.admission_worker"
FLEET = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(epilog="Example: controlplane gateway up fleet.yaml --engine chat=127.0.0.1:8000")
def command() -> None:
    """Admit requests by priority, in front of inference engines."""


@command.command(epilog="Example: controlplane gateway up fleet.yaml --engine chat=127.0.0.1:8000")
@click.argument("fleet", type=FLEET)
@click.option("--engine", "engines", type=ENGINE, multiple=True, help="MODEL=HOST:PORT[/SLOTS].")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=10080, show_default=True, type=PORT, help="Port to listen on.")
@click.option(
    "--workers", default=1, show_default=True, type=PROCESSES, help="Admission processes."
)
@click.option("--proxy", is_flag=True, help="Without Envoy: the workers take the requests.")
@envoy_option
@shared_options
@click.option("--metrics-port", type=PORT, help="Answer Prometheus here, on the same address.")
@click.option("--folder", type=FOLDER, help="Of Envoy's files and log.")
@data_option
def up(fleet: Path, engines: tuple[EngineArgument, ...], data: str | None, **given: Any) -> None:
    """Run a gateway for the models of FLEET on engines that run already, until told to stop."""
    catalogue = load_catalogue(fleet)
    refuse_unguarded("--host", given["host"], catalogue.gateway)
    refuse_name("--host", given["host"])
    folder = given.pop("folder") or folder_beside(place(data), os.environ) / "gateway"
    metrics_port = given.pop("metrics_port")
    if metrics_port == given["port"]:
        rule = "is the port of the requests"
        raise FaultsError([Fault("--metrics-port", None, "", str(metrics_port), rule)])
    given["shared"] = shared_address(given["shared"], given.pop("shared_file"))
    options = GatewayOptions(folder=folder, worker=WORKER, **given)
    plan = partial(static_plan, catalogue, engines)
    asyncio.run(_up(options, plan, metrics_port, place(data)))


for in_pods in (join, envoy, leave):
    command.add_command(in_pods)


@command.command(epilog="Example: controlplane gateway render fleet.yaml --folder /etc/envoy")
@click.argument("fleet", type=FLEET)
@click.option("--engine", "engines", type=ENGINE, multiple=True, help="MODEL=HOST:PORT[/SLOTS].")
@click.option("--folder", type=FOLDER, required=True, help="To write into.")
@click.option(
    "--port", default=10080, show_default=True, type=PORT, help="Port Envoy shall listen on."
)
@click.option("--admission", default="127.0.0.1:10081", show_default=True, help="HOST:PORT.")
@click.option("--ticket", required=True, metavar="SECRET", help="What admission's tickets say.")
def render(fleet: Path, engines: tuple[EngineArgument, ...], folder: Path, **given: Any) -> None:
    """Write Envoy's bootstrap and xDS files for an Envoy that runs elsewhere."""
    plan = static_plan(load_catalogue(fleet), engines)
    faults = plan_faults(plan)
    if faults:
        raise FaultsError(faults)
    host, port = _host_port("--admission", given["admission"])
    if not given["ticket"]:
        raise FaultsError([Fault("--ticket", None, "", "", "is empty: anybody could say it")])
    admin = (str(folder.absolute() / "admin.sock"), 0)
    workers = ((host, port),)
    listen = ("0.0.0.0", given["port"])  # noqa: S104  # it is written for an Envoy in a pod
    site = Site(str(folder.absolute()), listen, admin, workers, given["ticket"])
    made(folder / "eds")
    files = {"bootstrap.json": bootstrap(plan, site), **xds_files(plan, site)}
    for name in put_all(folder, files):
        click.echo(folder / name)


@command.command(epilog="Example: controlplane gateway key web --class high")
@click.argument("name")
@click.option(
    "--class", "priority", type=click.Choice([str(p) for p in PRIORITIES]), required=True,
    help="The highest class its requests may have.",
)  # fmt: skip
@click.option("--tenant", default="", help="Whose turns it shares; default: its own.")
@click.option("--model", "models", multiple=True, help="It may ask for this only; more than once.")
@data_option
def key(name: str, priority: str, tenant: str, models: tuple[str, ...], data: str | None) -> None:
    """Make a key for NAME and print its secret, this once."""
    secret = new_secret()
    given = ApiKey(
        secret_hash=secret_hash(secret),
        name=checked("NAME", name),
        priority=Priority(priority),
        tenant=checked("--tenant", tenant) if tenant else "",
        models=tuple(ModelName(model_name("--model", model)) for model in models),
    )
    asyncio.run(_add_key(data, given))
    click.echo(secret)
    click.echo(f"This secret of {name} ({priority}) is shown only now.", err=True)


@command.command(epilog="Example: controlplane gateway keys --json")
@json_option
@data_option
def keys(as_json: bool, data: str | None) -> None:
    """List the keys, without their secrets."""
    found = asyncio.run(_keys(data))
    if as_json:
        click.echo(msgspec.json.encode([_plain(one) for one in found]).decode())
        return
    for one in found:
        only = ", ".join(one.models) or "every model"
        click.echo(f"{one.name:<24} {one.priority:<8} {one.tenant or one.name:<16} {only}")


@command.command(epilog="Example: controlplane gateway revoke web")
@click.argument("name")
@data_option
def revoke(name: str, data: str | None) -> None:
    """Take NAME's key away."""
    if not asyncio.run(_remove_key(data, name)):
        raise click.ClickException(f"there is no key named {name}")


async def _up(options: GatewayOptions, plan: Plan, metrics_port: int | None, data: str) -> None:
    gateway = Gateway(options)
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    async with open_store(data, create=True) as store, AsyncExitStack() as stack:
        stack.enter_context(alone(options.folder))
        await gateway.start(await _planned(plan, store))
        stack.push_async_callback(gateway.stop)
        if metrics_port is not None:
            registry = CollectorRegistry()
            registry.register(gateway.metrics)
            await stack.enter_async_context(_told(registry, options.host, metrics_port))
        following = asyncio.create_task(_follow(gateway, plan, store))
        click.echo(f"gateway is up at http://{options.host}:{gateway.port}")
        await over.wait()
        following.cancel()


async def _follow(gateway: Gateway, plan: Plan, store: Store) -> None:
    """Follow what people set in the store: keys, and models they isolate."""
    while True:
        await asyncio.sleep(LOOKS_S)
        try:
            await gateway.update(await _planned(plan, store))
        except (UnavailableError, FaultsError, EnvoyError) as cause:
            click.echo(f"the gateway keeps its plan: {cause}", err=True)


async def _planned(plan: Plan, store: Store) -> GatewayPlan:
    keys, overrides = await store.gateway_keys.keys(), await store.overrides.overrides()
    return plan(keys, isolated(overrides))


async def _keys(data: str | None) -> list[ApiKey]:
    async with open_store(place(data), create=True) as store:
        return list(await store.gateway_keys.keys())


async def _add_key(data: str | None, given: ApiKey) -> None:
    async with open_store(place(data), create=True) as store:
        try:
            await store.gateway_keys.add(given)
        except ValueError as cause:
            raise click.ClickException(str(cause)) from cause
        await store.audit.record(_entry("gateway key", given.name, f"class {given.priority}"))


async def _remove_key(data: str | None, name: str) -> bool:
    async with open_store(place(data)) as store:
        gone = await store.gateway_keys.remove(name)
        if gone:
            await store.audit.record(_entry("gateway revoke", name, ""))
        return gone


@asynccontextmanager
async def _told(registry: CollectorRegistry, host: str, port: int) -> AsyncIterator[None]:
    """Answer Prometheus meanwhile."""
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(scraped(registry, host, port))
        except OSError as cause:
            rule = f"cannot be listened on: {cause.strerror or cause}"
            raise FaultsError([Fault("--metrics-port", None, "", str(port), rule)]) from cause
        yield


def _host_port(option: str, told: str) -> tuple[str, int]:
    if not is_host_port(told):
        raise FaultsError([Fault(option, None, "", told[:80], "must be HOST:PORT")])
    host, _, port = told.rpartition(":")
    return host.strip("[]"), int(port)


def _entry(what: str, name: str, detail: str) -> AuditEntry:
    return AuditEntry(at=wall(), who=who(), what=what, subject=name, detail=detail, ending="done")


def _plain(one: ApiKey) -> dict[str, Any]:
    rows: dict[str, Any] = msgspec.to_builtins(one)
    return {name: value for name, value in rows.items() if name != "secret_hash"}
