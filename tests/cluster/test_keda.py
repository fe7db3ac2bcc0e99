"""A real KEDA makes an autoscaler of a ScaledObject, and answers what that one asks."""

import pytest

from tests.cluster.api import Api
from tests.cluster.nodes import Nodes
from tests.cluster.workloads import deployment, pod_spec


@pytest.mark.keda
@pytest.mark.usefixtures("keda")
async def test_a_scaled_object_scales_by_what_keda_says(
    api: Api, namespace: str, nodes: Nodes
) -> None:
    await nodes.add(kubelet="kwok")
    await api.create(deployment(namespace, "load", 3, pod_spec(None)))
    await api.create(deployment(namespace, "chat", 1, pod_spec(None)))
    trigger = {"type": "kubernetes-workload", "metadata": {"podSelector": "app=load", "value": "1"}}

    await api.create(
        {
            "apiVersion": "keda.sh/v1alpha1",
            "kind": "ScaledObject",
            "metadata": {"name": "chat", "namespace": namespace},
            "spec": {
                "scaleTargetRef": {"name": "chat"},
                "pollingInterval": 2,
                "minReplicaCount": 1,
                "triggers": [trigger],
            },
        }
    )

    await api.until(
        f"/apis/apps/v1/namespaces/{namespace}/deployments/chat",
        lambda d: d["spec"]["replicas"] == 3,
        timeout_s=50,
    )
