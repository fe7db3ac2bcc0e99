"""Volcano, Kueue and KubeRay, each handed what is its own by a served daemon with its usual rights.

None of them runs here. What the daemon writes is taken strictly by a real API server, with their
real definitions where there are any, and stands where each of them looks for it.
"""

import asyncio
from typing import Any

import pytest

from tests.cluster.api import Manifest
from tests.cluster.manifests import define
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until
from tests.cluster.test_handing_over import ray_service

pytestmark = pytest.mark.timeout(180)  # engines load


def fleet(by: str, queue: str = "", **more: Any) -> str:
    """Give a fleet whose model somebody else schedules."""
    said = f"pre_pull: none\n      scheduled_by: {by}"
    said += f"\n      queue: {queue}" if queue else ""
    return fleet_text(**more).replace("pre_pull: none", said)


async def test_volcano_is_named_as_scheduler_with_its_queue_and_nobody_else_places_the_pods(
    stage: Scene,
) -> None:
    await stage.nodes.add("T4", 1, zone="z1")

    async with stage.daemon(fleet("volcano", "research")) as daemon:
        await stage.lanes.settle(60.0, loading=2)
        await asyncio.sleep(3.0)  # the default scheduler would have bound them by now
        pods = await stage.lanes.pods()
        said: set[str] = set()

        async def told() -> bool:
            replicas = (await daemon.get("/api/v1/models/chat"))["replicas"]
            said.update(one["note"] for one in replicas)
            return any("the scheduler volcano has not looked at it yet" in note for note in said)

        await until(told, 60.0, lambda: f"the replicas say {said}")

    assert {pod["spec"]["schedulerName"] for pod in pods} == {"volcano"}
    annotated = {pod["metadata"]["annotations"]["scheduling.volcano.sh/queue-name"] for pod in pods}
    assert annotated == {"research"}
    assert not [pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName")]


KUEUES: tuple[Manifest, ...] = (
    {"kind": "ResourceFlavor", "metadata": {"name": "t4"}, "spec": {}},
    {
        "kind": "ClusterQueue",
        "metadata": {"name": "cards"},
        "spec": {
            "namespaceSelector": {},
            "resourceGroups": [
                {
                    "coveredResources": ["nvidia.com/gpu"],
                    "flavors": [
                        {
                            "name": "t4",
                            "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 4}],
                        }
                    ],
                }
            ],
        },
    },
    {"kind": "LocalQueue", "metadata": {"name": "research"}, "spec": {"clusterQueue": "cards"}},
)


async def test_kueue_is_told_the_queue_on_the_deployment_and_on_its_pods(stage: Scene) -> None:
    await define(stage.api, "kueue")
    for one in KUEUES:
        about = {**one["metadata"]}
        if one["kind"] == "LocalQueue":
            about["namespace"] = stage.namespace
        await stage.api.apply({"apiVersion": "kueue.x-k8s.io/v1beta1", **one, "metadata": about})
    await stage.nodes.add("T4", 1, zone="z1")

    async with stage.daemon(fleet("kueue", "research")):
        await stage.lanes.settle(60.0, serving=1, warm=1)
        place = f"/apis/apps/v1/namespaces/{stage.namespace}/deployments/chat-t4"
        deployment = await stage.api.get(place)
        pods = await stage.lanes.pods()

    queue = "kueue.x-k8s.io/queue-name"
    labelled = [deployment, deployment["spec"]["template"], *pods]
    assert {one["metadata"]["labels"][queue] for one in labelled} == {"research"}
    assert queue not in deployment["spec"]["selector"]["matchLabels"]


async def test_a_served_daemon_sizes_the_worker_group_of_a_ray_service_and_makes_no_deployment(
    stage: Scene,
) -> None:
    await define(stage.api, "kuberay")
    await stage.nodes.add("T4", 2, zone="z1")
    theirs = ray_service(stage.namespace)
    (group,) = theirs["spec"]["rayClusterConfig"]["workerGroupSpecs"]
    group.update(replicas=0, maxReplicas=1)
    await stage.api.create(theirs)
    place = f"/apis/ray.io/v1/namespaces/{stage.namespace}/rayservices/chat-t4"

    async with stage.daemon(fleet("kuberay", least=3, spares=1)) as daemon:

        def sized(seen: Manifest) -> bool:
            (found,) = seen["spec"]["rayClusterConfig"]["workerGroupSpecs"]
            return (found["replicas"], found["maxReplicas"]) == (4, 4)

        found = await stage.api.until(place, sized, timeout_s=60.0)
        endings = {row["ending"] for row in await daemon.decisions() if row["loop"] == "spare"}

    managers = {one["manager"] for one in found["metadata"]["managedFields"]}
    assert "controlplane" in managers
    assert endings == {"done"}
    deployments = f"/apis/apps/v1/namespaces/{stage.namespace}/deployments"
    assert await stage.api.items(deployments) == []
