"""Others who scale or place: a KEDA that owns the number, a KubeRay that is handed it."""

import asyncio

from controlplane.domain.actions import Ensure, SetLane, SetReplicas
from controlplane.domain.decisions import DONE, Ending
from controlplane.domain.quantities import ReplicaName
from controlplane.domain.replicas import Lane
from controlplane.domain.workloads import State
from tests.cluster.api import Api, Manifest
from tests.cluster.handed import Cluster
from tests.cluster.manifests import define
from tests.cluster.nodes import Nodes
from tests.cluster.writer import CHAT, NAME, T4, a_catalogue, up, writer


async def test_a_scaled_object_of_others_on_the_deployment_is_named_by_both(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    """Behaviour T3."""
    await define(api, "keda")
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await by.cluster.apply(SetReplicas(CHAT, T4, 0))
        await api.create(
            {
                "apiVersion": "keda.sh/v1alpha1",
                "kind": "ScaledObject",
                "metadata": {"name": "theirs", "namespace": namespace},
                "spec": {
                    "scaleTargetRef": {"name": NAME},
                    "triggers": [{"type": "cron", "metadata": {"timezone": "UTC"}}],
                },
            }
        )

        view = await by.cluster.standing()
        outcome = await by.cluster.apply(SetReplicas(CHAT, T4, 2))

        (piece,) = [p for s in view.subjects for p in s.pieces if p.kind == "Deployment"]
        assert (piece.state, piece.by) == (State.FOREIGN, "KEDA ScaledObject theirs")
        assert outcome.ending is Ending.REFUSED
        assert "KEDA ScaledObject theirs" in outcome.note
        assert "controlplane" in outcome.note
        assert f"kubectl get scaledobject theirs -n {namespace}" in outcome.note


def ray_service(namespace: str) -> Manifest:
    container = {"name": "ray", "image": "rayproject/ray:2.46.0"}
    template = {"spec": {"containers": [container]}}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayService",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {
            "rayClusterConfig": {
                "headGroupSpec": {"rayStartParams": {}, "template": template},
                "workerGroupSpecs": [
                    {
                        "groupName": "gpu",
                        "replicas": 3,
                        "minReplicas": 0,
                        "maxReplicas": 3,
                        "rayStartParams": {},
                        "template": template,
                    }
                ],
            }
        },
    }


async def test_kuberay_is_handed_the_number_and_the_victims(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    await define(api, "kuberay")
    await api.create(ray_service(namespace))
    path = f"/apis/ray.io/v1/namespaces/{namespace}/rayservices/{NAME}"
    catalogue = a_catalogue(scheduled_by="kuberay")
    async with writer(cluster.admin_kubeconfig, namespace, catalogue) as by:
        assert await by.cluster.apply(SetReplicas(CHAT, T4, 5)) == DONE
        grown = (await api.get(path))["spec"]["rayClusterConfig"]["workerGroupSpecs"][0]
        victim = ReplicaName("w-1")
        assert await by.cluster.apply(SetReplicas(CHAT, T4, 4, (victim,))) == DONE
        shrunk = (await api.get(path))["spec"]["rayClusterConfig"]["workerGroupSpecs"][0]

        assert (grown["replicas"], grown["maxReplicas"]) == (5, 5)
        assert shrunk["replicas"] == 4
        assert shrunk["scaleStrategy"] == {"workersToDelete": ["w-1"]}
        assert (await by.cluster.standing()).subjects[1].pieces


async def test_promotion_and_a_catalogue_change_meet(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    """Behaviour R5: the pod is in one lane, whichever came first, and the next look goes on."""
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await nodes.add("T4")
        await by.cluster.apply(SetReplicas(CHAT, T4, 1))
        (one,) = await by.replicas(up(1))
        await by.cluster.swap_catalogue(a_catalogue("tests/answering:2"))
        seen: list[str] = []

        async def looks() -> None:
            path = f"/api/v1/namespaces/{namespace}/pods"
            async for _, pod in api.watch(path, fieldSelector=f"metadata.name={one.name}"):
                seen.append(pod["metadata"]["labels"].get("controlplane.dev/lane", "loading"))

        looking = asyncio.create_task(looks())
        ends = await asyncio.gather(
            by.cluster.apply(SetLane(one.name, Lane.SERVING, one.version)),
            by.cluster.apply(Ensure("Deployment", NAME)),
            by.cluster.apply(SetLane(one.name, Lane.DRAINING, one.version)),
        )
        settled = await by.replicas(
            lambda all_of: any(r.name == one.name and r.version > one.version for r in all_of)
        )
        looking.cancel()
        await asyncio.wait([looking])

        (after,) = [r for r in settled if r.name == one.name]
        assert [end.ending for end in ends].count(Ending.DONE) == 2
        assert ends[1] == DONE
        assert after.lane in {Lane.SERVING, Lane.DRAINING}
        assert set(seen) <= {"loading", after.lane.value}


async def test_twenty_promotions_at_once_are_in_service_within_three_seconds(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await nodes.add("T4", kubelet="kwok", devices=20)
        await by.cluster.apply(Ensure("Service", "chat"))
        await by.cluster.apply(SetReplicas(CHAT, T4, 20))
        twenty = await by.replicas(up(20), within_s=60.0)
        began = asyncio.get_running_loop().time()

        for one in twenty:
            assert await by.cluster.apply(SetLane(one.name, Lane.SERVING, one.version)) == DONE
        path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
        async for _ in api.watch(path):
            slices = await api.items(path)
            if sum(len(each.get("endpoints") or ()) for each in slices) == 20:
                break

        assert asyncio.get_running_loop().time() - began <= 3.0
