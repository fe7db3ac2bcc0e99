"""The process kubelet: pods really answer, are really probed, and leave as pods do."""

import asyncio
from contextlib import aclosing

import aiohttp

from controlplane.clock import stopwatch
from tests.cluster.api import Api
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes, is_ready, is_true
from tests.cluster.workloads import HEALTH, answering, deployment, pod, pod_spec


def place(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods/{name}"


async def answer(address: str, path: str = "/health") -> int:
    async with aiohttp.ClientSession() as session, session.get(f"http://{address}:8080{path}") as a:
        return a.status


async def gone(api: Api, path: str) -> None:
    collection, name = path.rsplit("/", 1)
    watch = api.watch(collection, fieldSelector=f"metadata.name={name}")
    async with aclosing(watch) as events:
        async for kind, _ in events:
            if kind == "DELETED":
                return


async def test_the_pods_of_a_deployment_become_ready_and_answer_at_their_addresses(
    api: Api, namespace: str, nodes: Nodes
) -> None:
    await nodes.add(count=2)
    await api.create(deployment(namespace, "chat", 3, pod_spec(None)))

    await api.until(
        f"/apis/apps/v1/namespaces/{namespace}/deployments/chat",
        lambda d: d.get("status", {}).get("readyReplicas") == 3,
    )

    pods = await api.items(f"/api/v1/namespaces/{namespace}/pods")
    addresses = {p["status"]["podIP"] for p in pods}
    assert len(addresses) == 3
    assert all(a.startswith("10.244.") for a in addresses)
    assert [await answer(a) for a in addresses] == [200, 200, 200]


async def test_a_pod_is_not_ready_while_its_readiness_probe_fails(
    api: Api, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()
    await api.create(pod(namespace, "a", pod_spec(node)))
    seen = await api.until(place(namespace, "a"), is_ready)

    await answer(seen["status"]["podIP"], "/unwell")

    lost = await api.until(place(namespace, "a"), lambda p: not is_ready(p))
    (container,) = lost["status"]["containerStatuses"]
    assert lost["status"]["phase"] == "Running"
    assert (container["ready"], container["started"]) == (False, True)


async def test_a_startup_probe_comes_before_the_others(
    api: Api, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()
    patient = {**HEALTH, "failureThreshold": 30}
    impatient = {**HEALTH, "failureThreshold": 1}
    slow = answering({"LOADS_S": "2"}, startupProbe=patient, livenessProbe=impatient)

    await api.create(pod(namespace, "a", pod_spec(node, slow)))

    ready = await api.until(place(namespace, "a"), is_ready)
    assert ready["status"]["containerStatuses"][0]["restartCount"] == 0


async def test_a_failing_liveness_probe_restarts_the_container(
    api: Api, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()
    started = {**HEALTH, "failureThreshold": 30}
    alive = answering(startupProbe=started, livenessProbe={**HEALTH, "failureThreshold": 1})
    await api.create(pod(namespace, "a", pod_spec(node, alive)))
    seen = await api.until(place(namespace, "a"), is_ready)

    await answer(seen["status"]["podIP"], "/unwell")

    again = await api.until(
        place(namespace, "a"),
        lambda p: p["status"]["containerStatuses"][0]["restartCount"] == 1 and is_ready(p),
    )
    assert again["status"]["podIP"] == seen["status"]["podIP"]


async def test_a_container_out_of_memory_is_shown_as_such_and_starts_anew(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()
    await api.create(pod(namespace, "a", pod_spec(node)))
    await api.until(place(namespace, "a"), is_ready)

    await cluster.out_of_memory(namespace, "a")

    again = await api.until(
        place(namespace, "a"),
        lambda p: p["status"]["containerStatuses"][0]["restartCount"] == 1 and is_ready(p),
    )
    ended = again["status"]["containerStatuses"][0]["lastState"]["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)


async def test_a_container_that_keeps_crashing_backs_off(
    api: Api, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()
    crashing = answering(command=["false"])
    await api.create(pod(namespace, "a", pod_spec(node, crashing)))

    seen = await api.until(
        place(namespace, "a"),
        lambda p: (
            "waiting" in p.get("status", {}).get("containerStatuses", [{}])[0].get("state", {})
            and p["status"]["containerStatuses"][0]["restartCount"] >= 1
        ),
    )

    (container,) = seen["status"]["containerStatuses"]
    assert container["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert container["lastState"]["terminated"]["exitCode"] == 1


async def test_a_pod_waits_for_its_readiness_gates(api: Api, namespace: str, nodes: Nodes) -> None:
    (node,) = await nodes.add()
    gate = "example.com/in-service"
    gated = pod_spec(node, readinessGates=[{"conditionType": gate}])
    await api.create(pod(namespace, "a", gated))
    waiting = await api.until(place(namespace, "a"), lambda p: is_true("ContainersReady", p))
    assert not is_ready(waiting)

    opened = {"status": {"conditions": [{"type": gate, "status": "True"}]}}
    await api.patch(f"{place(namespace, 'a')}/status", opened, "strategic")

    await api.until(place(namespace, "a"), is_ready)


async def test_a_pod_leaves_by_pre_stop_then_term_and_only_then_is_gone(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()
    polite = answering(
        {"LINGERS_S": "1"},
        lifecycle={"preStop": {"httpGet": {"path": "/leaving", "port": 8080}}},
    )
    await api.create(pod(namespace, "a", pod_spec(node, polite)))
    await api.until(place(namespace, "a"), is_ready)

    ended = asyncio.create_task(gone(api, place(namespace, "a")))
    await api.delete(place(namespace, "a"))
    leaving = await api.get(place(namespace, "a"))
    await ended

    said = [line.split()[1] for line in cluster.log(namespace, "a").splitlines()]
    assert leaving["metadata"]["deletionGracePeriodSeconds"] == 5
    assert said == ["up", "/leaving", "SIGTERM", "bye"]


async def test_the_grace_period_counts_pre_stop_and_ends_with_a_kill(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()
    stubborn = answering({"LINGERS_S": "60"}, lifecycle={"preStop": {"sleep": {"seconds": 1}}})
    await api.create(pod(namespace, "a", pod_spec(node, stubborn, terminationGracePeriodSeconds=3)))
    await api.until(place(namespace, "a"), is_ready)

    began = stopwatch()
    ended = asyncio.create_task(gone(api, place(namespace, "a")))
    await api.delete(place(namespace, "a"))
    await ended

    assert 3.0 <= stopwatch() - began < 5.0
    assert "bye" not in cluster.log(namespace, "a")


async def test_a_pod_deleted_by_force_is_killed_at_once(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()
    await api.create(pod(namespace, "a", pod_spec(node)))
    seen = await api.until(place(namespace, "a"), is_ready)

    await api.delete(place(namespace, "a"), grace_s=0)

    async with asyncio.timeout(5):
        while True:
            try:
                await answer(seen["status"]["podIP"])
            except aiohttp.ClientConnectorError:
                break
            except aiohttp.ClientError:
                continue  # it was killed in the middle of an answer
    assert "SIGTERM" not in cluster.log(namespace, "a")


async def test_an_image_is_pulled_once_by_a_node_and_then_it_has_it(
    api: Api, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add(pull_s=3.0)
    began = stopwatch()
    await api.create(pod(namespace, "a", pod_spec(node)))
    first = await api.until(place(namespace, "a"), lambda p: "containerStatuses" in p["status"])
    await api.until(place(namespace, "a"), is_ready)
    assert stopwatch() - began >= 3.0
    (container,) = first["status"]["containerStatuses"]
    assert container["state"] == {"waiting": {"reason": "ContainerCreating"}}

    await api.until(
        f"/api/v1/nodes/{node}",
        lambda n: any("tests/answering" in i["names"] for i in n["status"].get("images", ())),
    )


async def test_an_image_that_is_not_to_be_had_is_said_to_be_so(
    api: Api, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()
    lacking = {"name": "engine", "image": "nowhere/engine:1"}

    await api.create(pod(namespace, "a", pod_spec(node, lacking)))

    await api.until(
        place(namespace, "a"),
        lambda p: (
            p["status"]
            .get("containerStatuses", [{}])[0]
            .get("state", {})
            .get("waiting", {})
            .get("reason")
            == "ImagePullBackOff"
        ),
    )
