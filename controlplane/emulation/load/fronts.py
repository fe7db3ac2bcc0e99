"""What stands before a variant's engines: the gateway as `gateway up` runs it, or only Envoy."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from controlplane.domain.gateway import GatewayPlan
from controlplane.gateway.admin import Admin
from controlplane.gateway.envoy import Envoy
from controlplane.gateway.gateway import Gateway
from controlplane.gateway.site import GatewayOptions, prepare
from controlplane.gateway.written import put
from controlplane.render.envoy.straight import Bucket, straight

GRACE_S = 0.2  # the run is over: what is still under way has been counted


def options(folder: Path, envoy: str | None) -> GatewayOptions:
    """Give how to run one variant's front."""
    return GatewayOptions(
        folder=folder, port=_free_port(), envoy=envoy, concurrency=1, grace_s=GRACE_S
    )


@asynccontextmanager
async def admitting(plan: GatewayPlan, given: GatewayOptions) -> AsyncIterator[str]:
    """Run our gateway; give its address."""
    gateway = Gateway(given)
    await gateway.start(plan)
    try:
        yield f"http://{given.host}:{gateway.port}"
    finally:
        await gateway.stop()


@asynccontextmanager
async def passing(
    plan: GatewayPlan, given: GatewayOptions, bucket: Bucket | None
) -> AsyncIterator[str]:
    """Run the same Envoy without admission; give its address."""
    site = prepare(given)
    put(given.folder / "bootstrap.json", msgspec.json.encode(straight(plan, site, bucket)))
    envoy = Envoy(given, Admin(site.admin[0]))
    await envoy.start()
    try:
        yield f"http://{given.host}:{given.port}"
    finally:
        await envoy.end()


def _free_port() -> int:
    """Ask the system; Envoy cannot tell which one it took."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
