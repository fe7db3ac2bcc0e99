"""What is seen of real pods and nodes, and what is said of what may not be seen."""

import pytest

from controlplane.domain import marks
from controlplane.domain.samples import Absence, NoData
from controlplane.ports import UnavailableError
from tests.adapters.kubernetes.objects import CATALOGUE, GPU
from tests.cluster.accounts import Account, grant, issue
from tests.cluster.api import Api
from tests.cluster.audit import Audit
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes
from tests.cluster.seeing import (
    NODES_RULE,
    OURS,
    PODS_RULE,
    asking,
    mine,
    of,
    pod_of,
    reading_account,
    until,
    watching,
)
from tests.cluster.workloads import pod, pod_spec


@pytest.fixture
async def reader(api: Api, cluster: Cluster, namespace: str) -> Account:
    return await reading_account(api, cluster, namespace)


async def test_loops_are_woken_when_a_pod_is_placed_starts_turns_ready_and_goes(
    api: Api, namespace: str, nodes: Nodes, reader: Account
) -> None:
    (node,) = await nodes.add("T4")
    path = f"/api/v1/namespaces/{namespace}/pods/chat-1"

    async with watching(reader.kubeconfig, namespace) as seen:
        await api.create(pod(namespace, "chat-1", asking(1), OURS))
        view = await seen.until(lambda v: bool(v.replicas) and v.replicas[0].node == node)
        assert view.replicas[0].devices == 1
        await seen.until(lambda _: pod_of(seen).ready)
        (engine,) = await seen.sight.engines_at(CATALOGUE)
        assert engine.host == pod_of(seen).ip
        assert engine.serves
        assert engine.started

        await api.patch(path, {"metadata": {"labels": {marks.LANE: "draining"}}}, "merge")
        view = await seen.until(lambda v: v.replicas[0].lane == "draining")
        assert view.replicas[0].version == pod_of(seen).version

        await api.delete(path)
        await seen.until(lambda v: not v.replicas)


async def test_an_engine_killed_for_its_memory_is_shown_as_such_and_is_another_engine(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes, reader: Account
) -> None:
    await nodes.add("T4")

    async with watching(reader.kubeconfig, namespace) as seen:
        await api.create(pod(namespace, "chat-1", asking(1), OURS))
        await seen.until(lambda _: bool(seen.cache.pods.items) and pod_of(seen).ready)
        before = pod_of(seen).started

        await cluster.out_of_memory(namespace, "chat-1")

        await seen.until(lambda v: v.replicas[0].note.startswith("OOMKilled"))
        await seen.until(lambda _: pod_of(seen).started not in ("", before))


async def test_what_finds_no_device_says_what_the_scheduler_said(
    api: Api, namespace: str, nodes: Nodes, reader: Account
) -> None:
    await nodes.add("T4")

    async with watching(reader.kubeconfig, namespace) as seen:
        await api.create(pod(namespace, "chat-1", asking(5), OURS))

        view = await seen.until(
            lambda v: bool(v.replicas) and v.replicas[0].unschedulable_since is not None
        )
        assert GPU in view.replicas[0].note


async def test_r4_a_silent_nodes_pods_are_not_in_service_though_they_say_running(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes, reader: Account
) -> None:
    (node,) = await nodes.add("T4")

    async with watching(reader.kubeconfig, namespace) as seen:
        await api.create(pod(namespace, "chat-1", asking(1), OURS))
        await seen.until(lambda v: bool(v.replicas) and pod_of(seen).ready)

        await cluster.silence(node)

        view = await seen.until(lambda v: not v.replicas[0].serving, within_s=45)
        assert view.replicas[0].phase == "Running"
        assert view.replicas[0].note == f"node {node} is silent"
        assert not of(view, node).ready


async def test_p1_nodes_that_may_not_be_listed_are_not_known_until_it_is_granted(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    names = await nodes.add("T4", kubelet="kwok", ready=False)
    await grant(api, namespace, "reader", [PODS_RULE])
    account = await issue(api, cluster, namespace, "reader")
    await api.create(pod(namespace, "chat-1", asking(1), OURS))

    async with watching(account.kubeconfig, namespace) as seen:
        view = await seen.until(lambda v: bool(v.replicas))

        assert isinstance(view.nodes, NoData)
        assert view.nodes.why is Absence.FORBIDDEN
        assert f"list nodes is forbidden to {account.user}" in view.nodes.note
        assert "kubectl create clusterrole" in view.nodes.note

        await grant(api, namespace, "reader", [NODES_RULE], everywhere=True)
        view = await seen.until(lambda v: not isinstance(v.nodes, NoData))
        assert mine(view, names) == names


async def test_pods_that_may_not_be_listed_end_the_cycle_with_the_command_that_grants_it(
    api: Api, cluster: Cluster, namespace: str
) -> None:
    await grant(api, namespace, "reader", [])
    account = await issue(api, cluster, namespace, "reader")

    async with watching(account.kubeconfig, namespace) as seen:
        with pytest.raises(UnavailableError) as told:
            await seen.view()

    assert f"list pods in namespace {namespace} is forbidden to {account.user}" in str(told.value)
    assert f"--resource=pods -n {namespace}" in str(told.value)


async def test_devices_held_in_other_namespaces_are_seen_where_that_is_granted(
    api: Api, namespace: str, nodes: Nodes, reader: Account, audit: Audit
) -> None:
    (node,) = await nodes.add("T4")
    notebook = pod_spec(node, {**asking(3)["containers"][0]})
    await api.create(pod("default", f"notebook-{namespace}", notebook))
    path = f"/api/v1/namespaces/default/pods/notebook-{namespace}"
    try:
        await api.until(path, lambda p: p["status"].get("phase") == "Running")
        async with watching(reader.kubeconfig, namespace) as seen:
            assert (await seen.view()).others == {}
        assert audit.refused(reader.user) == []

        await grant(api, namespace, "reader", [NODES_RULE, PODS_RULE], everywhere=True)
        async with watching(reader.kubeconfig, namespace, everywhere=True) as seen:
            await until(lambda: seen.cache.pods.synced)
            assert (await seen.view()).others == {node: 3}
    finally:
        await api.delete(path, grace_s=0)
