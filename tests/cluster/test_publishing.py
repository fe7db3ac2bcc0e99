"""Publishing on a real API server: strict, named when two would write, taken away again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from controlplane.adapters.kubernetes.client import Api as OurApi
from controlplane.adapters.kubernetes.client import open_api
from controlplane.adapters.kubernetes.fencing import Fenced
from controlplane.adapters.kubernetes.scaled_objects import ScaledObjects
from controlplane.domain.decisions import Ending
from controlplane.domain.quantities import ModelName
from controlplane.loops.in_memory import SoleLeader
from controlplane.render.hpa import hpas
from controlplane.render.scaled_object import scaled_objects
from tests.cluster.api import Api, RefusedError
from tests.cluster.handed import Cluster
from tests.cluster.manifests import define
from tests.cluster.stage.waiting import until
from tests.cluster.workloads import deployment, pod_spec
from tests.render.handover.fleet import a_fleet

FLEET, CHAT = a_fleet(), ModelName("chat")
NAME = "chat-a100-80g"


@pytest.fixture
async def ours(cluster: Cluster) -> AsyncIterator[OurApi]:
    opened = await open_api(Path(cluster.admin_kubeconfig))
    yield opened
    await opened.close()


async def test_published_refused_beside_another_and_taken_away(
    api: Api, namespace: str, ours: OurApi
) -> None:
    await define(api, "keda")
    await api.create(deployment(namespace, NAME, 1, pod_spec(None)))
    store = ScaledObjects(ours, Fenced(ours, SoleLeader()), namespace)
    (made,) = scaled_objects(CHAT, FLEET, namespace)
    (hpa,) = hpas(CHAT, FLEET, namespace)
    hpa["metadata"]["name"] = "someone-elses"
    place = f"/apis/keda.sh/v1alpha1/namespaces/{namespace}/scaledobjects/{NAME}"

    await api.create(hpa)
    beside = await store.apply(made)
    assert beside.ending is Ending.REFUSED
    assert (
        f"written by HorizontalPodAutoscaler someone-elses and would be by our ScaledObject {NAME}"
        in beside.note
    )
    await api.remove(hpa)

    assert (await store.apply(made)).ending is Ending.DONE
    assert (await store.apply(made)).ending is Ending.DONE
    assert await store.names() == {NAME: CHAT}
    assert (await api.get(place))["spec"]["fallback"]["behavior"] == "currentReplicasIfHigher"

    wrong = {**made, "spec": {**made["spec"], "scalingStrategy": {"strategy": "custom"}}}
    strict = await store.apply(wrong)
    assert strict.ending is Ending.REFUSED
    assert "scalingStrategy" in strict.note

    assert (await store.remove(NAME)).ending is Ending.DONE
    await until(lambda: gone(api, place), 30.0)  # where KEDA runs, it takes its leave first


async def gone(api: Api, place: str) -> bool:
    try:
        await api.get(place)
    except RefusedError as refused:
        return "404" in str(refused)
    return False
