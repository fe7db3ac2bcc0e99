"""Watches on the real API server: listed in pages, followed, taken up again, never old as new."""

import asyncio
from random import Random

import pytest

from controlplane.adapters.kubernetes.client import open_api
from controlplane.adapters.kubernetes.node_shape import Machine, RawNode, keep_node
from controlplane.adapters.kubernetes.resources import NODES, Place
from controlplane.adapters.kubernetes.watching import Kind, Pauses, Watch
from controlplane.ports import UnavailableError
from tests.cluster.accounts import Account
from tests.cluster.api import Api
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes
from tests.cluster.seeing import mine, of, reading_account, until, watching
from tests.cluster.workloads import pod, pod_spec


@pytest.fixture
async def reader(api: Api, cluster: Cluster, namespace: str) -> Account:
    return await reading_account(api, cluster, namespace)


async def test_everything_is_listed_page_by_page_and_then_followed(
    api: Api, namespace: str, nodes: Nodes, reader: Account
) -> None:
    names = await nodes.add("T4", 5, kubelet="kwok", ready=False)

    async with watching(reader.kubeconfig, namespace) as seen:
        assert mine(await seen.view(), names) == sorted(names)  # of five pages

        names += await nodes.add("A100-80G", kubelet="kwok", ready=False)
        view = await seen.until(lambda v: mine(v, names) == sorted(names))

        new = of(view, names[-1])
        assert (new.node_class, new.devices, new.zone) == ("A100-80G", 8, "z1")
        await api.patch(f"/api/v1/nodes/{names[0]}", {"spec": {"unschedulable": True}}, "merge")
        await seen.until(lambda v: not of(v, names[0]).schedulable)
        await api.delete(f"/api/v1/nodes/{names[1]}")
        await seen.until(lambda v: names[1] not in mine(v, names))
        assert seen.cache.nodes.lists == 1


async def test_a_version_that_the_api_server_no_longer_knows_is_listed_anew(
    cluster: Cluster, namespace: str, nodes: Nodes, reader: Account
) -> None:
    names = await nodes.add("T4", 3, kubelet="kwok", ready=False)
    await cluster.stop_api_server()
    await cluster.start_api_server()  # from here on it remembers what comes, and nothing before
    short = Pauses(first_s=0.05, longest_s=0.2, lasts_s=1, page=2)

    async with watching(reader.kubeconfig, namespace, short) as seen:
        watch, lists = seen.cache.nodes, seen.cache.nodes.lists

        def listed_anew() -> bool:
            if watch.lists > lists:
                return True
            if not watch.failure:  # else it was refused already, and is about to list
                watch._version = "1"  # again and again: any event brings a young one
            return False

        await until(listed_anew)

        assert mine(await seen.view(), names) == names
        names += await nodes.add("T4", kubelet="kwok", ready=False)
        await seen.until(lambda v: mine(v, names) == sorted(names))


async def test_watches_that_end_go_on_from_where_they_were(
    namespace: str, nodes: Nodes, reader: Account
) -> None:
    short = Pauses(first_s=0.05, longest_s=0.2, lasts_s=1)
    names = await nodes.add("T4", kubelet="kwok", ready=False)

    async with watching(reader.kubeconfig, namespace, short) as seen:
        async with asyncio.timeout(4):
            names += await nodes.add("T4", 2, kubelet="kwok", ready=False)
            await seen.until(lambda v: mine(v, names) == sorted(names))
        await asyncio.sleep(2)  # two watches long

        assert (seen.cache.nodes.lists, seen.cache.nodes.failure) == (1, "")


async def test_bookmarks_keep_the_version_young_while_nothing_comes_to_what_is_watched(
    api: Api, namespace: str, reader: Account
) -> None:
    """The API server sends one a minute, and one two seconds before the end of a watch."""
    brief = Pauses(first_s=0.05, longest_s=0.2, lasts_s=6)
    elsewhere = pod("default", f"beside-{namespace}", pod_spec(None))

    async with watching(reader.kubeconfig, namespace, brief) as seen:
        pods = seen.cache.pods
        before = int((await api.create(elsewhere))["metadata"]["resourceVersion"])
        await until(lambda: int(pods._version) >= before, 60)

        assert (pods.items, pods.lists) == ({}, 1)
    await api.remove(elsewhere)


async def test_a_watch_on_which_nothing_comes_is_opened_anew_and_listed_only_when_it_must(
    namespace: str, reader: Account
) -> None:
    impatient = Pauses(stale_s=5, silent_s=0.3, first_s=0.05, longest_s=0.1)

    async with watching(reader.kubeconfig, namespace, impatient) as seen:
        await until(
            lambda: (
                "no answer in time" in seen.cache.pods.failure or bool(seen.cache.pods.lists > 1)
            )
        )
        await until(lambda: seen.cache.pods.failure == "")

        assert (await seen.view()).replicas == ()


async def test_an_api_server_that_is_away_leaves_no_old_picture_and_is_seen_when_it_is_back(
    cluster: Cluster, namespace: str, nodes: Nodes, reader: Account
) -> None:
    names = await nodes.add("T4", kubelet="kwok", ready=False)

    async with watching(reader.kubeconfig, namespace) as seen:
        before = await seen.view()
        await cluster.stop_api_server()
        try:
            await until(lambda: seen.cache.age_of(seen.cache.pods) > 1.0)
            with pytest.raises(UnavailableError, match="the pods are not known"):
                await seen.view()
        finally:
            await cluster.start_api_server()

        await until(lambda: seen.cache.trusted(seen.cache.pods))
        await until(lambda: seen.cache.trusted(seen.cache.nodes))
        after = await seen.view()
        assert mine(after, names) == mine(before, names)
        names += await nodes.add("T4", kubelet="kwok", ready=False)
        await seen.until(lambda v: mine(v, names) == sorted(names))


async def test_a_bug_in_reading_costs_the_picture_for_a_while_and_not_the_daemon(
    namespace: str, nodes: Nodes, reader: Account
) -> None:
    assert namespace
    await nodes.add("T4", kubelet="kwok", ready=False)
    faults = [ZeroDivisionError("once")]

    def keep(raw: RawNode) -> Machine:
        if faults:
            raise faults.pop()
        return keep_node(raw)

    api = await open_api(reader.kubeconfig)
    quick = Pauses(first_s=0.05, longest_s=0.2)
    watch = Watch(api, Place(NODES), Kind(RawNode, keep), lambda: None, Random(1), quick)
    task = asyncio.create_task(watch.run())
    try:
        await until(lambda: watch.synced and not faults)
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await api.close()
