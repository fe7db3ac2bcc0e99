"""`controlplane import` on a real cluster: read, taken over with --yes, given back."""

import asyncio
import sys
from pathlib import Path

import pytest

from controlplane.domain import marks
from controlplane.render.corrections import corrected
from controlplane.settings.manifests import read_manifests
from tests.cluster.api import Api, RefusedError
from tests.cluster.handed import Cluster
from tests.cluster.manifests import define
from tests.cluster.nodes import Nodes
from tests.cluster.workloads import deployment, pod_spec
from tests.render.handover.seeds import HPA, SEED_004

ROOT = Path(__file__).parents[2]


async def said(cluster: Cluster, *arguments: str, code: int = 0) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "controlplane", "import", *arguments,
        "--kubeconfig", str(cluster.admin_kubeconfig), cwd=ROOT,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    out, _ = await process.communicate()
    assert process.returncode == code, out.decode()
    return out.decode()


async def test_a_scaled_object_is_read_taken_over_and_given_back(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    await define(api, "keda")
    await nodes.add(kubelet="kwok")
    scaled_object, _ = corrected(read_manifests(SEED_004, "seed.yaml")[0])
    scaled_object["metadata"]["namespace"] = namespace
    await api.create(deployment(namespace, "qwen-7b", 3, pod_spec(None)))
    await api.create(scaled_object)
    place = f"/apis/keda.sh/v1alpha1/namespaces/{namespace}/scaledobjects/qwen-7b"
    owner = f"/apis/apps/v1/namespaces/{namespace}/deployments/qwen-7b"
    before = await api.get(place)

    read = await said(cluster, f"{namespace}/qwen-7b")
    assert "utilisation_ceiling: 0.75" in read
    assert "Nothing was changed" in read
    assert (await api.get(place))["metadata"]["uid"] == before["metadata"]["uid"]

    await said(cluster, f"{namespace}/qwen-7b", "--yes")
    with pytest.raises(RefusedError, match="404"):
        await api.get(place)
    noted = await api.get(owner)
    assert noted["spec"]["replicas"] == 3
    assert marks.IMPORTED_FROM in noted["metadata"]["annotations"]

    await said(cluster, f"{namespace}/qwen-7b", "--undo", "--yes")
    assert (await api.get(place))["spec"] == before["spec"]
    assert marks.IMPORTED_FROM not in (await api.get(owner))["metadata"].get("annotations", {})


async def test_an_hpa_that_keda_made_is_not_taken_from_under_it(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    await define(api, "keda")
    scaled_object, _ = corrected(read_manifests(SEED_004, "seed.yaml")[0])
    scaled_object["metadata"]["namespace"] = namespace
    made = await api.create(scaled_object)
    (hpa,) = read_manifests(HPA, "hpa.yaml")
    owner = {"apiVersion": made["apiVersion"], "kind": made["kind"], "controller": True}
    owner |= {"name": made["metadata"]["name"], "uid": made["metadata"]["uid"]}
    hpa["metadata"] = {
        "name": "keda-hpa-qwen-7b", "namespace": namespace, "ownerReferences": [owner]
    }  # fmt: skip
    await api.create(hpa)

    told = await said(cluster, f"{namespace}/keda-hpa-qwen-7b", "--yes", code=1)

    assert (
        "belongs to ScaledObject qwen-7b, which would make it again: "
        f"controlplane import {namespace}/qwen-7b" in told
    )


async def test_what_scales_anything_but_a_deployment_is_left_alone(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    (hpa,) = read_manifests(HPA, "hpa.yaml")
    hpa["metadata"]["namespace"] = namespace
    hpa["spec"]["scaleTargetRef"]["kind"] = "StatefulSet"
    made = await api.create(hpa)

    told = await said(cluster, f"{namespace}/chat", "--yes", code=2)

    assert f"{namespace}/chat: spec.scaleTargetRef.kind: StatefulSet: cannot be taken" in told
    place = f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers/chat"
    assert (await api.get(place))["metadata"]["uid"] == made["metadata"]["uid"]


async def test_a_scaler_whose_deployment_is_not_there_stays_where_it_is(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    (hpa,) = read_manifests(HPA, "hpa.yaml")
    hpa["metadata"]["namespace"] = namespace
    await api.create(hpa)

    told = await said(cluster, f"{namespace}/chat", "--yes", code=1)

    assert '"chat" not found' in told
    place = f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers/chat"
    assert (await api.get(place))["kind"] == "HorizontalPodAutoscaler"
