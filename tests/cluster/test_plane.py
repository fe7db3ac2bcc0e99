"""The control plane is the real one: its controllers, scheduler, access rules and audit log."""

import asyncio
from contextlib import aclosing

import aiohttp
import pytest
from kubernetes_asyncio import client

from controlplane.clock import stopwatch
from tests.cluster.accounts import grant, issue
from tests.cluster.api import Api, RefusedError
from tests.cluster.audit import Audit
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes, is_ready
from tests.cluster.workloads import deployment, pod, pod_spec, service

LANE = "controlplane.dev/lane"


def place(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods/{name}"


async def answers(address: str) -> bool:
    """Say whether a pod answers within two seconds."""
    limit = aiohttp.ClientTimeout(total=2)
    try:
        async with (
            aiohttp.ClientSession(timeout=limit) as session,
            session.get(f"http://{address}:8080/health") as answer,
        ):
            return answer.status == 200
    except TimeoutError:
        return False


async def slices(api: Api, namespace: str, addresses: set[str]) -> None:
    """Await that the EndpointSlices of a namespace hold these addresses, ready, and no others."""
    held: dict[str, set[str]] = {}
    path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
    async with asyncio.timeout(20), aclosing(api.watch(path)) as events:
        async for kind, one in events:
            ends = [e for e in one.get("endpoints") or () if e["conditions"]["ready"]]
            found = {address for end in ends for address in end["addresses"]}
            held[one["metadata"]["name"]] = set() if kind == "DELETED" else found
            if set().union(*held.values()) == addresses:
                return


async def test_fifty_nodes_of_kwok_come_ready_and_their_pods_say_they_run(
    api: Api, namespace: str, nodes: Nodes
) -> None:
    names = await nodes.add("A100-80G", 50, kubelet="kwok")

    listed = await api.items("/api/v1/nodes", labelSelector="tests.controlplane.dev/kubelet=kwok")
    assert {n["metadata"]["name"] for n in listed if is_ready(n)} >= set(names)

    spec = pod_spec(None)
    spec["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "8"}}
    await api.create(deployment(namespace, "chat", 20, spec))
    await api.until(
        f"/apis/apps/v1/namespaces/{namespace}/deployments/chat",
        lambda d: d.get("status", {}).get("readyReplicas") == 20,
        timeout_s=40,
    )
    pods = await api.items(f"/api/v1/namespaces/{namespace}/pods")
    assert len({p["spec"]["nodeName"] for p in pods}) == 20, "eight devices a node, eight a pod"


async def test_what_asks_for_more_devices_than_there_are_stays_pending(
    api: Api, namespace: str, nodes: Nodes
) -> None:
    await nodes.add("T4", kubelet="kwok")
    spec = pod_spec(None)
    spec["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "5"}}

    await api.create(pod(namespace, "a", spec))

    seen = await api.until(
        place(namespace, "a"),
        lambda p: any(
            c.get("reason") == "Unschedulable" for c in p["status"].get("conditions", ())
        ),
    )
    assert seen["status"]["phase"] == "Pending"


async def test_a_label_flip_reaches_the_endpoint_slice(
    api: Api, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()
    await api.create(service(namespace, "chat", {LANE: "serving"}))
    await api.create(pod(namespace, "a", pod_spec(node)))
    seen = await api.until(place(namespace, "a"), is_ready)
    await slices(api, namespace, set())

    taken = []
    for lane, addresses in (("serving", {seen["status"]["podIP"]}), ("draining", set())) * 3:
        flipped = stopwatch()
        await api.patch(place(namespace, "a"), {"metadata": {"labels": {LANE: lane}}})
        await slices(api, namespace, addresses)
        taken.append(stopwatch() - flipped)

    assert sorted(taken)[len(taken) // 2] < 1.0, taken


async def test_a_silent_node_becomes_not_ready_and_comes_back(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    """A kubelet that hangs and a machine that is dead look the same, until one asks their pods."""
    hung, dead, well = await nodes.add(count=3)
    for name, node in (("hung", hung), ("dead", dead)):
        await api.create(pod(namespace, name, pod_spec(node)))
    pods = {name: place(namespace, name) for name in ("hung", "dead")}
    addresses = {
        name: (await api.until(where, is_ready))["status"]["podIP"] for name, where in pods.items()
    }

    await cluster.silence(hung)
    await cluster.freeze(dead)

    for node in (hung, dead):
        await api.until(f"/api/v1/nodes/{node}", lambda n: not is_ready(n))
    for where in pods.values():
        lost = await api.until(where, lambda p: not is_ready(p))
        assert lost["status"]["phase"] == "Running", "the phase still says so"
    assert is_ready(await api.get(f"/api/v1/nodes/{well}"))
    assert (await answers(addresses["hung"]), await answers(addresses["dead"])) == (True, False)

    restarts = {}
    for name, node in (("hung", hung), ("dead", dead)):
        await cluster.revive(node)
        await api.until(f"/api/v1/nodes/{node}", is_ready)
        again = await api.until(pods[name], is_ready)
        restarts[name] = again["status"]["containerStatuses"][0]["restartCount"]
    assert restarts == {"hung": 0, "dead": 1}


async def test_an_account_may_do_what_it_was_granted_and_no_more(
    api: Api, cluster: Cluster, namespace: str, audit: Audit
) -> None:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    await grant(api, namespace, "reader", rules)
    account = await issue(api, cluster, namespace, "reader")
    pods = f"/api/v1/namespaces/{namespace}/pods"

    async with account.api(cluster) as reader:
        assert await reader.items(pods) == []
        with pytest.raises(RefusedError, match="403"):
            await reader.delete(f"{pods}/a")
        with pytest.raises(RefusedError, match="403"):
            await reader.items("/api/v1/pods")

    assert audit.writes(account.user) == [f"delete pods {namespace}/a 403"]
    assert audit.refused(account.user) == [
        f"delete pods {namespace}/a 403",
        "list pods / 403",
    ]


async def test_the_audit_log_counts_every_write_and_no_read(
    api: Api, namespace: str, audit: Audit
) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": namespace}, "data": {}}  # fmt: skip
    await api.create(body)
    await api.get(f"/api/v1/namespaces/{namespace}/configmaps/a")
    await api.patch(f"/api/v1/namespaces/{namespace}/configmaps/a", {"data": {"k": "v"}})
    await api.delete(f"/api/v1/namespaces/{namespace}/configmaps/a")

    mine = [what for what in audit.writes("admin") if "configmaps" in what]
    assert [what.split()[0] for what in mine] == ["create", "patch", "delete"]


async def test_the_api_server_can_be_away_while_pods_go_on(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()
    await api.create(pod(namespace, "a", pod_spec(node)))
    before = await api.until(place(namespace, "a"), is_ready)

    await cluster.stop_api_server()
    with pytest.raises(OSError, match="Cannot connect"):
        await api.get(place(namespace, "a"))
    await cluster.start_api_server()

    # The controllers may have believed the node dead meanwhile, as they do.
    after = await api.until(place(namespace, "a"), is_ready)
    (container,) = after["status"]["containerStatuses"]
    assert (after["metadata"]["uid"], container["restartCount"]) == (before["metadata"]["uid"], 0)
    await api.create(pod(namespace, "b", pod_spec(node)))
    await api.until(place(namespace, "b"), is_ready)


async def test_the_library_of_the_product_reads_the_same_nodes(
    kubernetes: client.ApiClient, nodes: Nodes
) -> None:
    (name,) = await nodes.add("910B3")

    node = await client.CoreV1Api(kubernetes).read_node(name)

    assert node.status.allocatable["huawei.com/Ascend910"] == "8"
    assert node.metadata.labels["mind-cluster/npu-chip-memory"] == "64G"
