"""Writes through the client: strict, conditional, and refused in words."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from controlplane.adapters.kubernetes.client import JSON_PATCH, Api, Manifest, open_api
from controlplane.adapters.kubernetes.refusals import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    MissingError,
    RefusedError,
)
from controlplane.adapters.kubernetes.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    NODES,
    SCALED_OBJECTS,
    Place,
)
from controlplane.domain import marks
from controlplane.ports import UnavailableError
from tests.cluster.accounts import grant, issue
from tests.cluster.api import Api as Admin
from tests.cluster.handed import Cluster
from tests.cluster.manifests import define
from tests.cluster.workloads import deployment, pod_spec


@pytest.fixture
async def ours(cluster: Cluster) -> AsyncIterator[Api]:
    """The product's client, as an administrator."""
    made = await open_api(cluster.admin_kubeconfig)
    yield made
    await made.close()


def a_map(namespace: str, name: str = "a", **data: str) -> Manifest:
    about = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": data}


async def test_what_is_created_can_be_read_listed_changed_and_deleted(
    ours: Api, namespace: str
) -> None:
    all_maps = Place(CONFIG_MAPS, namespace)
    one = Place(CONFIG_MAPS, namespace, "a")

    made = await ours.create(all_maps, a_map(namespace, x="1"))
    changed = await ours.patch(one, {"data": {"y": "2", "x": None}})
    for name in ("b", "c", "d", "e"):
        await ours.create(all_maps, a_map(namespace, name))
    listed = await ours.list(all_maps, Manifest, page=2)
    await ours.delete(one, uid=made["metadata"]["uid"])

    assert changed["data"] == {"y": "2"}
    assert {m["metadata"]["name"] for m in listed} >= {"a", "b", "c", "d", "e"}
    assert {f["manager"] for f in changed["metadata"]["managedFields"]} == {marks.MANAGER}
    with pytest.raises(MissingError, match=f"get configmaps a in namespace {namespace}"):
        await ours.get(one, Manifest)


async def test_a_patch_whose_condition_no_longer_holds_changes_nothing(
    ours: Api, namespace: str
) -> None:
    one = Place(CONFIG_MAPS, namespace, "a")
    made = await ours.create(Place(CONFIG_MAPS, namespace), a_map(namespace, x="1"))
    version = made["metadata"]["resourceVersion"]
    await ours.patch(one, {"data": {"x": "2"}})

    with pytest.raises(ConflictError):
        await ours.patch(one, {"metadata": {"resourceVersion": version}, "data": {"x": "3"}})
    with pytest.raises(ConflictError):
        await ours.replace(one, made)
    with pytest.raises(ConflictError):
        await ours.delete(one, uid="another")
    test = [{"op": "test", "path": "/data/x", "value": "1"}]
    with pytest.raises(RefusedError):
        await ours.patch(one, test, form=JSON_PATCH)

    assert (await ours.get(one, Manifest))["data"] == {"x": "2"}


async def test_a_field_nobody_knows_is_an_error_and_not_dropped(ours: Api, namespace: str) -> None:
    manifest = deployment(namespace, "chat", 0, pod_spec(None))
    manifest["spec"]["replicaz"] = 3

    with pytest.raises(InvalidError, match="replicaz"):
        await ours.create(Place(DEPLOYMENTS, namespace), manifest)
    with pytest.raises(InvalidError, match="replicaz"):
        await ours.apply(Place(DEPLOYMENTS, namespace, "chat"), manifest)


async def test_a_field_of_another_manager_is_a_conflict_unless_it_is_forced(
    ours: Api, api: Admin, namespace: str
) -> None:
    one = Place(CONFIG_MAPS, namespace, "a")
    await api.apply(a_map(namespace, x="theirs"), manager="somebody")

    with pytest.raises(ConflictError, match="somebody"):
        await ours.apply(one, a_map(namespace, x="ours"))
    tried = await ours.apply(one, a_map(namespace, x="ours"), force=True, dry_run=True)
    assert tried["data"] == {"x": "ours"}
    assert (await ours.get(one, Manifest))["data"] == {"x": "theirs"}
    await ours.apply(one, a_map(namespace, x="ours"), force=True)
    assert (await ours.get(one, Manifest))["data"] == {"x": "ours"}


async def test_a_custom_resource_takes_our_patch(ours: Api, api: Admin, namespace: str) -> None:
    await define(api, "keda")
    spec = {"scaleTargetRef": {"name": "chat"}, "triggers": [{"type": "cpu", "metadata": {}}]}
    about = {"name": "chat", "namespace": namespace}
    await ours.create(
        Place(SCALED_OBJECTS, namespace),
        {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": about, "spec": spec},
    )

    changed = await ours.patch(
        Place(SCALED_OBJECTS, namespace, "chat"), {"spec": {"maxReplicaCount": 3}}
    )

    assert changed["spec"]["maxReplicaCount"] == 3


async def test_a_write_that_is_forbidden_names_the_command_that_grants_it(
    cluster: Cluster, api: Admin, namespace: str
) -> None:
    await grant(api, namespace, "writer", [])
    account = await issue(api, cluster, namespace, "writer")
    ours = await open_api(account.kubeconfig)
    scale = Place(DEPLOYMENTS, namespace, "chat", "scale")

    with pytest.raises(ForbiddenError) as told:
        await ours.patch(scale, {"spec": {"replicas": 1}})
    await ours.close()

    said = str(told.value)
    assert f"patch deployments.apps/scale chat in namespace {namespace} is forbidden" in said
    command = said.split("this grants it: ")[1].replace("kubectl", str(cluster.kubectl))
    await run(command, cluster)
    allowed = await open_api(account.kubeconfig)
    with pytest.raises(MissingError):  # it may now; there is only nothing to change
        await allowed.patch(scale, {"spec": {"replicas": 1}})
    await allowed.close()


async def run(command: str, cluster: Cluster) -> None:
    environment = {**os.environ, "KUBECONFIG": str(cluster.admin_kubeconfig)}
    process = await asyncio.create_subprocess_shell(command, env=environment)
    assert await process.wait() == 0


async def test_credentials_that_nobody_knows_are_said_to_be_so(
    cluster: Cluster, tmp_path: Path
) -> None:
    file = tmp_path / "config"
    text = cluster.admin_kubeconfig.read_text("utf-8")
    file.write_text(text.replace(cluster.admin_token, "nonsense"), "utf-8")
    ours = await open_api(file)

    with pytest.raises(UnavailableError, match="does not know these credentials"):
        await ours.list(Place(NODES), Manifest)
    await ours.close()


async def test_an_api_server_that_does_not_answer_is_away(
    cluster: Cluster, ours: Api, namespace: str
) -> None:
    await cluster.stop_api_server()
    try:
        with pytest.raises(UnavailableError, match="the API server at"):
            await ours.get(Place(CONFIG_MAPS, namespace, "a"), Manifest)
    finally:
        await cluster.start_api_server()
