"""deploy/envoy on a real API server: taken strictly, and two gateways that really serve."""

import copy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.cluster.accounts import moved
from tests.cluster.api import Api, Manifest, RefusedError
from tests.cluster.audit import Audit
from tests.cluster.handed import Cluster
from tests.cluster.manifests import shipped
from tests.cluster.nodes import ZONE
from tests.cluster.stage.daemon import Daemon
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.gateways import ENVOY, NAME, PORT, Gateways, said
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until

OK = "200"


async def test_every_object_is_taken_without_a_field_too_many(
    api: Api, cluster: Cluster, namespace: str
) -> None:
    manifests = await shipped(cluster, ENVOY)
    for one in manifests:
        await api.apply(moved(one, namespace))

    assert {one["metadata"]["namespace"] for one in manifests} == {"controlplane"}
    assert {one["kind"] for one in manifests} == {
        "Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceAccount",
    }  # fmt: skip


async def test_its_pods_keep_to_the_strictest_profile_of_pod_security(
    api: Api, cluster: Cluster, namespace: str
) -> None:
    label = {"pod-security.kubernetes.io/enforce": "restricted"}
    await api.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": label}})
    made = [one for one in await shipped(cluster, ENVOY) if one["kind"] == "Deployment"]
    for deployment in made:
        name = deployment["metadata"]["name"]
        pod: Manifest = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {**deployment["spec"]["template"]["spec"], "serviceAccountName": "default"},
        }
        await api.apply(pod)
        with_privileges = copy.deepcopy(pod)
        del with_privileges["spec"]["containers"][0]["securityContext"]
        with_privileges["metadata"]["name"] = "other"
        with pytest.raises(RefusedError, match="violates PodSecurity"):
            await api.apply(with_privileges)

    assert {one["metadata"]["name"] for one in made} == {NAME, "controlplane-valkey"}


@pytest.mark.usefixtures("mounts")
@pytest.mark.timeout(400)
async def test_two_gateways_serve_and_what_is_killed_at_one_is_no_outage_at_the_other(
    stage: Scene, audit: Audit
) -> None:
    async with served(stage) as (gateways, daemon), gateways.callers(daemon.two) as calm:
        async with gateways.callers(daemon.one) as callers:
            await calm.more(OK)
            await callers.more(OK)
            await until(daemon.counts, 60.0)
            for container in ("envoy", "admission"):
                await stage.cluster.out_of_memory(stage.namespace, name(daemon.one), container)
                await callers.more(OK)  # it is started again, and found by who stands beside it
                await calm.more(OK)
        await until(daemon.believes_them, 60.0)
        await until(daemon.shares, 60.0)

    assert calm.endings.keys() == {OK}, calm.endings
    assert daemon.two["metadata"]["labels"][ZONE] == "z1"
    assert audit.requests(f"system:serviceaccount:{stage.namespace}:{NAME}") == []


@pytest.mark.usefixtures("mounts")
@pytest.mark.timeout(400)
async def test_a_gateway_that_is_deleted_ends_when_its_streams_have(stage: Scene) -> None:
    """And nobody who asks the other one notices; a new one comes in its place."""
    async with (
        served(stage, engine='--token-s, "0.02"') as (gateways, daemon),
        gateways.callers(daemon.two) as calm,
        streaming(daemon.one, gateways.key, tokens=500) as stream,
    ):
        await stage.api.delete(f"/api/v1/namespaces/{stage.namespace}/pods/{name(daemon.one)}")
        rest = await stream.content.read()
        await gateways.ready(2)
        await calm.more(OK)

    assert b"[DONE]" in rest
    assert calm.endings.keys() == {OK}, calm.endings


@pytest.mark.usefixtures("mounts")
@pytest.mark.timeout(400)
async def test_without_any_daemon_gateways_go_on_with_what_they_were_told_and_join_the_next(
    stage: Scene,
) -> None:
    async with (
        served(stage) as (gateways, daemon),
        gateways.callers(daemon.one) as kept,
        gateways.callers(daemon.two) as anew,
    ):
        await kept.more(OK)
        await daemon.process.kill()
        await kept.more(OK)
        await stage.cluster.out_of_memory(stage.namespace, name(daemon.two), "admission")
        await anew.more(OK)
        async with another(stage, daemon) as next_one:
            await until(next_one.counts, 60.0)
            await kept.more(OK)

    assert kept.endings.keys() == {OK}, kept.endings


@dataclass
class Served:
    """The daemon, what it says of its gateways, and their two pods."""

    process: Daemon
    store: Path
    viewer: str  # a token
    one: Manifest = field(default_factory=dict)
    two: Manifest = field(default_factory=dict)

    async def _get(self, path: str) -> Any:
        headers = {"Authorization": f"Bearer {self.viewer}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.get(f"{self.process.url}/api/v1{path}") as answer,
        ):
            return await answer.json()

    async def counts(self) -> bool:
        """Say whether it was told of admitted requests."""
        told = await self._get("/queues?model=chat")
        return any(row["admitted"]["value"] for row in told)

    async def believes_them(self) -> bool:
        """Say whether it has the queue from them."""
        told = await self._get("/models/chat/signals")
        return any((s["signal"], s["source"]) == ("queue", "gateway") for s in told["signals"])

    async def shares(self) -> bool:
        """Say whether the second one shares slots by the Valkey."""
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://{self.two['status']['podIP']}:10081/metrics") as answer,
        ):
            return "controlplane_gateway_degraded 0.0" in await answer.text()


@asynccontextmanager
async def served(stage: Scene, engine: str = "") -> AsyncIterator[tuple[Gateways, Served]]:
    """Have two engines, a daemon that asks for tokens, and two gateways that joined it."""
    await stage.nodes.add("T4", 1)
    await stage.nodes.add("cpu", 1)
    store = stage.folder / "store"
    token = await said(store, "token", "create", "gateway", "--role", "gateway")
    viewer = await said(store, "token", "create", "me", "--role", "viewer")
    gateways = Gateways(stage, await said(store, "gateway", "key", "web", "--class", "high"))
    async with stage.daemon(fleet(engine), *acting(store)) as process:
        daemon = Served(process, store, viewer)
        await stage.lanes.settle(120.0, serving=2)
        await gateways.deploy(process.url, token)
        daemon.one, daemon.two = await gateways.ready(2)
        yield gateways, daemon


def fleet(engine: str = "") -> str:
    text = fleet_text(slots=8, service_s=0.05, least=2, most=2, spares=0, engine=engine)
    return text + "gateway: {require_key: true}\n"


def acting(store: Path) -> tuple[str, ...]:
    return ("--mode", "act", "--data", str(store))


@asynccontextmanager
async def another(stage: Scene, before: Served) -> AsyncIterator[Served]:
    """Run the daemon that comes after one that is gone."""
    port = before.process.url.rpartition(":")[2]
    said = (*acting(before.store), "--port", port)
    async with stage.daemon(fleet(), *said, name="next") as process:
        yield Served(process, before.store, before.viewer)


@asynccontextmanager
async def streaming(pod: Manifest, key: str, tokens: int) -> AsyncIterator[aiohttp.ClientResponse]:
    """Have an answer that has begun to stream."""
    body = {"model": "chat", "prompt": "hello", "max_tokens": tokens, "stream": True}
    url = f"http://{pod['status']['podIP']}:{PORT}/v1/completions"
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(url, json=body) as answer,
    ):
        assert await answer.content.readany()
        yield answer


def name(pod: Manifest) -> str:
    found: str = pod["metadata"]["name"]
    return found
