"""A daemon as people run it, whose replicas a real KEDA writes: it may publish, and is asked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from grpc import aio

from tests.adapters.keda.asking import Keda
from tests.adapters.keda.older import OlderKeda
from tests.cluster.accounts import moved
from tests.cluster.manifests import shipped
from tests.cluster.stage.daemon import Daemon
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.sizes import Sizes
from tests.cluster.stage.waiting import until
from tests.emulation.stand import free_port

HANDOVER = Path(__file__).parents[3] / "deploy" / "keda"
CLASS, DEPLOYMENT = "T4", "chat-t4"
POLLING_S = 2


async def let_publish(stage: Scene) -> None:
    """Grant the daemon what deploy/keda grants it."""
    for manifest in await shipped(stage.cluster, HANDOVER):
        if manifest["kind"] in {"Role", "RoleBinding"}:
            await stage.api.apply(moved(manifest, stage.namespace))


@dataclass
class Handed:
    """One model of a served daemon, and a KEDA that sizes it."""

    stage: Scene
    fleet: str
    more: str = ""  # that ScaledObjects are to say
    scaler: str = field(default_factory=lambda: f"127.0.0.1:{free_port()}")

    @asynccontextmanager
    async def daemon(self, *options: str) -> AsyncIterator[Daemon]:
        """Run it; once more, and it is the same one restarted."""
        said = f"scaler_address: {self.scaler}, polling_s: {POLLING_S}{self.more}"
        fleet = f"{self.fleet}keda: {{{said}}}\n"
        given = ("--mode", "act", "--scaler", self.scaler, *options)
        async with self.stage.daemon(fleet, *given) as daemon:
            yield daemon

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[tuple[Keda, OlderKeda]]:
        """Ask what KEDA asks, as one of today and as one before 2.17."""
        async with aio.insecure_channel(self.scaler) as channel:
            yield Keda(channel), OlderKeda(channel)

    def sizes(self) -> Sizes:
        """Follow the Deployment that KEDA writes."""
        return Sizes(self.stage.api, self.stage.namespace, DEPLOYMENT)

    async def external(self, metric: str = "target") -> float:
        """Ask the API server what KEDA's adapter makes of our value: what an HPA would read."""
        place = (
            f"/apis/external.metrics.k8s.io/v1beta1/namespaces/{self.stage.namespace}/s0-{metric}"
        )
        whose = f"scaledobject.keda.sh/name={DEPLOYMENT}"
        (value,) = await self.stage.api.items(place, labelSelector=whose)
        written: str = value["value"]
        return float(written.removesuffix("m")) * (0.001 if written.endswith("m") else 1.0)


async def comes_to(keda: Keda, count: int, within_s: float) -> None:
    """Await that we say so many."""
    said: list[object] = []

    async def wanted() -> bool:
        try:
            said[:] = [(await keda.value(model="chat", metric="target", class_=CLASS))[0]]
        except aio.AioRpcError as error:
            said[:] = [error.details()]
        return said == [count]

    await until(wanted, within_s, lambda: f"we say {said}, not {count}")


async def override(daemon: Daemon, verb: str, **more: int) -> None:
    """Pause, pin and the like."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{daemon.url}/api/v1/overrides/chat", json={"verb": verb, **more}) as answer,
    ):
        assert answer.status == 200, await answer.text()
