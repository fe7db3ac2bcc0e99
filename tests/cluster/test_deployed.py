"""What `deploy/kubernetes` ships runs as it stands, and has no right that it does not need."""

from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from tests.cluster.accounts import DEPLOYED, daemon_account, moved
from tests.cluster.api import Api, Manifest, RefusedError
from tests.cluster.audit import Audit
from tests.cluster.handed import Cluster
from tests.cluster.manifests import shipped
from tests.cluster.nodes import A100, Nodes, is_ready, is_true

NAME = "controlplane"
ONLY_DEVICES = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}


def volume(namespace: str, folder: Any) -> Manifest:
    """Give a volume for the claim, as a provisioner would."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": namespace},
        "spec": {
            "capacity": {"storage": "10Gi"},
            "accessModes": ["ReadWriteOnce"],
            "claimRef": {"namespace": namespace, "name": "controlplane-store"},
            "hostPath": {"path": str(folder)},
        },
    }


async def its_pod(api: Api, namespace: str) -> Manifest:
    (pod,) = await api.items(f"/api/v1/namespaces/{namespace}/pods")
    return pod


@pytest.mark.usefixtures("mounts")
async def test_the_shipped_deployment_becomes_ready_sees_the_nodes_and_writes_nothing(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes, audit: Audit, tmp_path: Any
) -> None:
    await nodes.add("cpu")
    await nodes.add(replace(A100, taints=(ONLY_DEVICES,)), 3, kubelet="kwok")
    store = volume(namespace, tmp_path)
    await api.create(store)
    for manifest in await shipped(cluster, DEPLOYED):
        if manifest["kind"] != "Namespace":
            await api.apply(moved(manifest, namespace))

    await api.until(
        f"/apis/apps/v1/namespaces/{namespace}/deployments/{NAME}",
        lambda d: is_true("Available", d),
        timeout_s=120,
    )
    pod = await its_pod(api, namespace)
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{pod['status']['podIP']}:8080/readyz") as answer,
    ):
        said = await answer.json()

    user = f"system:serviceaccount:{namespace}:{NAME}"
    assert is_ready(pod)
    assert answer.status == 200, said
    assert audit.writes(user) == []
    assert audit.refused(user) == []
    assert {request.verb for request in audit.requests(user)} >= {"list"}
    assert list(tmp_path.glob("*.sqlite3*")), "the store is on the volume"
    await api.remove(store)


async def test_the_daemon_may_not_do_what_it_does_not_need(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes, audit: Audit
) -> None:
    (node,) = await nodes.add(kubelet="kwok")
    account = await daemon_account(api, cluster, namespace)
    own = f"/api/v1/namespaces/{namespace}"

    async with account.api(cluster) as daemon:
        assert node in {n["metadata"]["name"] for n in await daemon.items("/api/v1/nodes")}
        assert await daemon.items(f"{own}/pods") == []
        for path in (f"{own}/secrets", f"{own}/configmaps", "/api/v1/pods", "/api/v1/namespaces"):
            with pytest.raises(RefusedError, match="403"):
                await daemon.items(path)
        with pytest.raises(RefusedError, match="403"):
            await daemon.patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
        with pytest.raises(RefusedError, match="403"):
            await daemon.delete("/api/v1/namespaces/default/pods/a")
        with pytest.raises(RefusedError, match="403"):
            await daemon.delete(f"/apis/apps/v1/namespaces/{namespace}/deployments/chat")

    assert len(audit.refused(account.user)) == 7
