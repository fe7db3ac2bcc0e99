"""deploy/kubernetes on the real API server: taken strictly, and run with exactly its access."""

import asyncio
import copy
from pathlib import Path

import pytest

from tests.cluster.accounts import DEPLOYED, daemon_account
from tests.cluster.api import Api, Manifest, RefusedError
from tests.cluster.audit import Audit
from tests.cluster.handed import Cluster
from tests.cluster.manifests import shipped
from tests.cluster.nodes import Nodes

HA = DEPLOYED.parent / "overlays" / "ha"
EVERYWHERE = {"Namespace", "ClusterRole", "ClusterRoleBinding"}


def moved(manifest: Manifest, namespace: str) -> Manifest:
    """Put a manifest of ours into a test's namespace."""
    one = copy.deepcopy(manifest)
    one["metadata"]["namespace"] = namespace
    return one


def the(kind: str, manifests: list[Manifest]) -> Manifest:
    (found,) = [one for one in manifests if one["kind"] == kind]
    return found


@pytest.mark.parametrize("folder", [DEPLOYED, HA], ids=["base", "ha"])
async def test_every_object_is_taken_without_a_field_too_many(
    folder: Path, api: Api, cluster: Cluster, namespace: str
) -> None:
    manifests = await shipped(cluster, folder)
    for one in manifests:
        if one["kind"] not in EVERYWHERE:
            await api.apply(moved(one, namespace))

    assert {one["kind"] for one in manifests} >= EVERYWHERE
    assert {one["metadata"].get("namespace", "controlplane") for one in manifests} == {
        "controlplane"
    }


@pytest.mark.parametrize("folder", [DEPLOYED, HA], ids=["base", "ha"])
async def test_its_pods_keep_to_the_strictest_profile_of_pod_security(
    folder: Path, api: Api, cluster: Cluster, namespace: str
) -> None:
    label = {"pod-security.kubernetes.io/enforce": "restricted"}
    await api.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": label}})
    deployment = the("Deployment", await shipped(cluster, folder))
    pod: Manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "daemon", "namespace": namespace},
        "spec": {**deployment["spec"]["template"]["spec"], "serviceAccountName": "default"},
    }
    with_privileges = copy.deepcopy(pod)
    del with_privileges["spec"]["containers"][0]["securityContext"]

    await api.apply(pod)
    with pytest.raises(RefusedError, match="violates PodSecurity"):
        await api.apply({**with_privileges, "metadata": {**pod["metadata"], "name": "other"}})


async def test_what_the_namespace_enforces_lets_engines_in(cluster: Cluster) -> None:
    labels = the("Namespace", await shipped(cluster, DEPLOYED))["metadata"]["labels"]

    assert labels["pod-security.kubernetes.io/enforce"] == "baseline"


@pytest.mark.timeout(150)
async def test_the_deployment_comes_up_ready_in_the_cluster_and_writes_nothing(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes, audit: Audit
) -> None:
    """As shipped, but for what an image would bring: the program, and an address of its own."""
    await nodes.add("cpu")
    account = await daemon_account(api, cluster, namespace)
    manifests = await shipped(cluster, DEPLOYED)
    await api.apply(moved(the("ConfigMap", manifests), namespace))
    deployment = moved(the("Deployment", manifests), namespace)
    spec = deployment["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    container["command"] = ["controlplane"]
    address = {"fieldRef": {"fieldPath": "status.podIP"}}
    given = {one["name"]: one for one in container["env"]}
    given["CONTROLPLANE_HOST"] = {"name": "CONTROLPLANE_HOST", "valueFrom": address}
    container["env"] = list(given.values())
    spec["volumes"] = [
        {"name": "store", "emptyDir": {}} if one["name"] == "store" else one
        for one in spec["volumes"]
    ]
    await api.apply(deployment)

    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/controlplane"
    try:
        await api.until(
            path, lambda found: found.get("status", {}).get("readyReplicas") == 1, timeout_s=90.0
        )
    except AssertionError as error:
        (pod,) = await api.items(f"/api/v1/namespaces/{namespace}/pods")
        log = cluster.log(namespace, pod["metadata"]["name"], "controlplane")
        raise AssertionError(f"{error}\n{log}") from None
    await asyncio.sleep(6.0)  # a cycle more, with everything seen

    assert audit.refused(account.user) == []
    assert [one for one in audit.writes(account.user) if "selfsubject" not in one] == []
