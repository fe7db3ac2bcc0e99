"""The overlay `ha` as two real pods on one PostgreSQL: one leads, and is followed when it ends."""

import asyncio
import copy
import sys
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
import pytest
from sqlalchemy import create_engine, text

from controlplane.adapters.sql.address import Address
from tests.cluster.accounts import DEPLOYED, moved
from tests.cluster.api import Manifest, RefusedError
from tests.cluster.audit import Audit, Request
from tests.cluster.manifests import shipped
from tests.cluster.nodes import T4, is_ready
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until
from tests.emulation.stand import free_port
from tests.postgresql import postgresql, programs

HA = DEPLOYED.parent / "overlays" / "ha"
NAME = "controlplane"
ONLY_DEVICES = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}
COMES_S = 120.0  # two daemons start and migrate a database, on a machine that others use too


@pytest.fixture
def database() -> Iterator[str]:
    """Give the URL of an empty PostgreSQL that pods can reach."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with postgresql(free_port()) as url:
        yield url


@dataclass
class Pair:
    """The Deployment's two pods, and what can be seen of them."""

    stage: Scene
    url: str

    async def deploy(self) -> None:
        """Apply the overlay as shipped, but for what people set: Secret, fleet, acting.

        And for what a network of its own would bring each pod: here they share one.
        """
        await self.stage.api.apply(secret(self.stage.namespace, self.url))
        for manifest in await shipped(self.stage.cluster, HA):
            if manifest["kind"] != "Namespace":
                await self.stage.api.apply(moved(ours(manifest), self.stage.namespace))

    async def ready(self, *without: str) -> list[str]:
        """Await two pods that are ready, without those named; gives their names."""
        names: list[str] = []

        async def two() -> bool:
            pods = await self._pods()
            names[:] = sorted(one["metadata"]["name"] for one in pods if is_ready(one))
            return len(names) == 2 and not set(without) & set(names)

        await until(two, COMES_S, lambda: f"{names} are ready\n{self._logs()}")
        return names

    async def leader(self, *without: str) -> str:
        """Await that somebody leads who is not among these; gives the name of its pod."""
        place = f"/apis/coordination.k8s.io/v1/namespaces/{self.stage.namespace}/leases"

        def holder(lease: Manifest) -> str:
            return str(lease["spec"].get("holderIdentity") or "").rpartition("-")[0]

        held = await self.stage.api.until(
            f"{place}/{NAME}", lambda seen: holder(seen) not in {"", *without}, timeout_s=60.0
        )
        return holder(held)

    async def tenures(self) -> int:
        """Count how often somebody came to lead so far."""
        place = f"/apis/coordination.k8s.io/v1/namespaces/{self.stage.namespace}/leases/{NAME}"
        return 1 + int((await self.stage.api.get(place))["spec"].get("leaseTransitions", 0))

    async def agree(self, token: str) -> None:
        """Await that one says of itself that it leads, and that all name the same one."""
        told: list[dict[str, Any]] = []

        async def same() -> bool:
            try:
                told[:] = [await self._world(pod, token) for pod in await self._pods()]
            except aiohttp.ClientError:  # one that has just come, or is about to go
                return False
            named = {world["leader"] for world in told}
            leading = [world["leading"] for world in told]
            return len(named) == 1 and "" not in named and leading.count(True) == 1

        await until(same, 60.0, lambda: f"{told}")

    async def _world(self, pod: Manifest, token: str) -> dict[str, Any]:
        said = {"Authorization": f"Bearer {token}", "Host": NAME}
        async with (
            aiohttp.ClientSession(headers=said) as session,
            session.get(f"http://{pod['status']['podIP']}:8080/api/v1/world") as answer,
        ):
            assert answer.status == 200, await answer.text()
            found: dict[str, Any] = await answer.json()
            return found

    async def kill(self, pod: str) -> None:
        """End a pod without a word, as `kubectl delete pod --force` does."""
        await self.stage.api.delete(
            f"/api/v1/namespaces/{self.stage.namespace}/pods/{pod}", grace_s=0
        )

    async def evict(self, pod: str) -> None:
        """Ask a pod to go, as `kubectl drain` does."""
        about = {"name": pod, "namespace": self.stage.namespace}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": about}
        place = f"/api/v1/namespaces/{self.stage.namespace}/pods/{pod}/eviction"
        await self.stage.api.post(place, body)

    async def may_be_drained(self) -> None:
        """Await that the budget has seen that both are ready."""
        place = f"/apis/policy/v1/namespaces/{self.stage.namespace}/poddisruptionbudgets/{NAME}"
        await self.stage.api.until(
            place, lambda seen: seen.get("status", {}).get("disruptionsAllowed") == 1
        )

    async def _pods(self) -> list[Manifest]:
        path = f"/api/v1/namespaces/{self.stage.namespace}/pods"
        chosen = "app.kubernetes.io/component=daemon"
        listed = await self.stage.api.items(path, labelSelector=chosen)
        return [pod for pod in listed if "deletionTimestamp" not in pod["metadata"]]

    def _logs(self) -> str:
        folders = (self.stage.cluster.home / "pods").glob(f"{self.stage.namespace}_{NAME}-*")
        logs = [folder / f"{NAME}.log" for folder in folders]
        return "\n".join(log.read_text(errors="replace")[-3000:] for log in logs if log.exists())


def secret(namespace: str, url: str) -> Manifest:
    """Give the Secret that the overlay asks people for."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "controlplane-database", "namespace": namespace},
        "data": {"url": b64encode(url.encode()).decode()},
    }


def ours(manifest: Manifest) -> Manifest:
    """Give a manifest with the fleet of this test in it, and acting."""
    one = copy.deepcopy(manifest)
    if one["kind"] == "ConfigMap":
        one["data"] = {"fleet.yaml": fleet_text(most=2)}
    if one["kind"] == "Deployment":
        (container,) = one["spec"]["template"]["spec"]["containers"]
        address = {"fieldRef": {"fieldPath": "status.podIP"}}
        changed = {
            "CONTROLPLANE_MODE": {"name": "CONTROLPLANE_MODE", "value": "act"},
            "CONTROLPLANE_HOST": {"name": "CONTROLPLANE_HOST", "valueFrom": address},
        }
        container["env"] = [changed.get(each["name"], each) for each in container["env"]]
    return one


@asynccontextmanager
async def pair(stage: Scene, url: str) -> AsyncIterator[Pair]:
    """Have the overlay deployed, on nodes apart from the engines'."""
    await stage.nodes.add("cpu", 1, zone="z1")
    await stage.nodes.add("cpu", 1, zone="z2")
    await stage.nodes.add(replace(T4, taints=(ONLY_DEVICES,)), 1, zone="z1")
    made = Pair(stage, url)
    await made.deploy()
    yield made
    await stage.api.delete(
        f"/apis/apps/v1/namespaces/{stage.namespace}/deployments/{NAME}"
    )  # before the database goes


async def viewer(url: str) -> str:
    """Make a token, as people do; gives its secret."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controlplane", "token", "create", "me", "--role", "viewer"),
        *("--data", url), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, wrong = await process.communicate()
    assert process.returncode == 0, wrong.decode()
    return out.decode().strip()


def newest(url: str) -> int:
    """Give the number of the newest decision in the database."""
    engine = create_engine(Address(url).blocking_url)
    try:
        with engine.connect() as connection:
            return int(connection.execute(text("SELECT max(id) FROM decisions")).scalar_one() or 0)
    finally:
        engine.dispose()


def writers(requests: list[Request]) -> set[str]:
    """Name the pods that wrote to the cluster, but for who leads."""
    asked = {"leases", "selfsubjectaccessreviews"}
    return {one.pod for one in requests if one.writes and one.object_ref.resource not in asked}


@pytest.mark.usefixtures("mounts")
@pytest.mark.timeout(400)
async def test_one_of_the_two_leads_and_when_its_pod_is_killed_another_goes_on(
    stage: Scene, database: str, audit: Audit
) -> None:
    """Exactly the rights of the overlay: what the daemon lacks fails this test, by its stage."""
    async with pair(stage, database) as both, stage.balancer() as balancer:
        names = await both.ready()
        await stage.lanes.settle(120.0, serving=1, warm=1)
        await balancer.served(1, 60.0)
        token = await viewer(database)
        await both.agree(token)
        wrote, tenures = writers(audit.requests(stage.account.user)), await both.tenures()

        first, last = await both.leader(), newest(database)
        await both.kill(first)
        await both.leader(first)
        since = Audit(stage.cluster.audit_log)
        await both.ready(first)
        load = asyncio.create_task(balancer.load(40.0, 120.0))
        await stage.lanes.settle(100.0, serving=2)
        load.cancel()
        await both.agree(token)
        after = writers(since.requests(stage.account.user))

    assert first in names
    assert wrote <= set(names)
    assert 1 <= len(wrote) <= tenures  # whoever does not lead writes nothing
    assert after
    assert first not in after
    assert newest(database) > last


@pytest.mark.usefixtures("mounts")
@pytest.mark.timeout(400)
async def test_a_drain_takes_one_of_the_two_at_a_time_and_the_lead_is_handed_over(
    stage: Scene, database: str
) -> None:
    async with pair(stage, database) as both:
        names = await both.ready()
        await both.may_be_drained()
        first = await both.leader()
        (other,) = set(names) - {first}
        await both.evict(first)
        with pytest.raises(RefusedError, match="429"):
            await both.evict(other)
        second = await both.leader(first)
        await both.ready(first)

    assert second != first
