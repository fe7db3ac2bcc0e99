"""Kinds of other projects, from their Go modules: the API server checks what we write of them."""

import pytest

from tests.cluster.api import Api, RefusedError
from tests.cluster.manifests import define

KINDS = {
    "keda": "scaledobjects.keda.sh",
    "istio": "destinationrules.networking.istio.io",
    "kueue": "localqueues.kueue.x-k8s.io",
    "kuberay": "rayservices.ray.io",
    "prometheus-operator": "podmonitors.monitoring.coreos.com",
}


@pytest.mark.parametrize(("module", "kind"), KINDS.items())
async def test_the_kinds_of_a_module_are_known_when_asked_for(
    api: Api, module: str, kind: str
) -> None:
    assert kind in await define(api, module)


async def test_a_wrong_field_of_such_a_kind_is_refused(api: Api, namespace: str) -> None:
    await define(api, "keda")
    wanted = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "chat", "namespace": namespace},
        "spec": {
            "scaleTargetRef": {"name": "chat"},
            "triggers": [{"type": "cron", "metadata": {"desiredReplicas": 3}}],
        },
    }

    with pytest.raises(RefusedError, match="must be of type string"):
        await api.create(wanted)
