"""A real KEDA makes an autoscaler of a ScaledObject, and answers what that one asks."""

import pytest

from controlplane.adapters.kubernetes.client import open_api
from controlplane.adapters.kubernetes.ownership import Rival, rivals
from tests.cluster.api import Api
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes
from tests.cluster.stage.waiting import until
from tests.cluster.workloads import deployment, pod_spec

pytestmark = [pytest.mark.keda, pytest.mark.usefixtures("keda")]


async def scaled(api: Api, namespace: str) -> None:
    """Let KEDA keep as many replicas of one Deployment as another has pods, three."""
    await api.create(deployment(namespace, "load", 3, pod_spec(None)))
    await api.create(deployment(namespace, "chat", 1, pod_spec(None)))
    trigger = {"type": "kubernetes-workload", "metadata": {"podSelector": "app=load", "value": "1"}}
    await api.create(
        {
            "apiVersion": "keda.sh/v1alpha1",
            "kind": "ScaledObject",
            "metadata": {"name": "theirs", "namespace": namespace},
            "spec": {
                "scaleTargetRef": {"name": "chat"},
                "pollingInterval": 2,
                "minReplicaCount": 1,
                "triggers": [trigger],
            },
        }
    )


async def test_a_scaled_object_scales_by_what_keda_says(
    api: Api, namespace: str, nodes: Nodes
) -> None:
    await nodes.add(kubelet="kwok")

    await scaled(api, namespace)

    await api.until(
        f"/apis/apps/v1/namespaces/{namespace}/deployments/chat",
        lambda d: d["spec"]["replicas"] == 3,
        timeout_s=50,
    )


async def test_who_scales_is_known_with_the_autoscaler_that_keda_made(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    await scaled(api, namespace)
    by_keda = Rival("scaledobject", "theirs", namespace, hpa="keda-hpa-theirs")
    ours = await open_api(cluster.admin_kubeconfig)

    async def known() -> bool:
        found.update(await rivals(ours, namespace))
        return found == {"Deployment/chat": by_keda}

    found: dict[str, Rival] = {}
    try:
        await until(known, 60.0, lambda: f"{found}")
    finally:
        await ours.close()
