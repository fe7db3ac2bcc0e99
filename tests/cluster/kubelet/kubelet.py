"""The process kubelet: plays every node with its label, in one event loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from tests.cluster.api import Api, Manifest, RefusedError
from tests.cluster.arguments import KUBELET_LABEL
from tests.cluster.kubelet.machine import Machine
from tests.cluster.kubelet.node import NodeRun
from tests.cluster.kubelet.pod import PodRun
from tests.cluster.programs import say


class Kubelet:
    """All nodes of ours."""

    def __init__(self, api: Api, machine: Machine) -> None:
        self._api = api
        self._machine = machine
        self._nodes: dict[str, NodeRun] = {}
        self._runs: dict[str, asyncio.Task[None]] = {}
        self._numbers = 0

    async def run(self) -> None:
        """Play nodes until cancelled."""
        try:
            while True:
                try:
                    await self._look()
                except (RefusedError, aiohttp.ClientError, TimeoutError):
                    await asyncio.sleep(0.3)
        finally:
            await self._leave(list(self._nodes))

    async def _look(self) -> None:
        path, ours = "/api/v1/nodes", {"labelSelector": f"{KUBELET_LABEL}=process"}
        listed = await self._api.get(path, **ours)
        there = {node["metadata"]["name"]: node for node in listed["items"]}
        await self._leave([name for name in self._nodes if name not in there])
        for node in there.values():
            self._enter(node)
        since = listed["metadata"]["resourceVersion"]
        async for kind, node in self._api.follow(path, since, **ours):
            name = node["metadata"]["name"]
            if kind == "DELETED":
                await self._leave([name])
            else:
                self._enter(node)

    def _enter(self, node: Manifest) -> None:
        name = node["metadata"]["name"]
        if name in self._nodes:
            self._nodes[name].seen(node)
            return
        self._numbers = self._numbers % 250 + 1
        run = self._nodes[name] = NodeRun(self._api, node, self._numbers, self._machine)
        self._runs[name] = task = asyncio.create_task(run.run())

        def over(task: asyncio.Task[None]) -> None:
            if not task.cancelled() and task.exception():
                say(f"the kubelet of {name} failed: {task.exception()!r}")

        task.add_done_callback(over)

    async def _leave(self, names: list[str]) -> None:
        tasks = [self._runs.pop(name) for name in names if name in self._runs]
        for name in names:
            self._nodes.pop(name, None)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def node(self, name: str) -> NodeRun:
        """Give a node of ours."""
        if name not in self._nodes:
            raise KeyError(f"{name} is no node of the process kubelet")
        return self._nodes[name]

    def pod(self, namespace: str, name: str) -> PodRun:
        """Give a pod of ours."""
        for node in self._nodes.values():
            for run in node.pods.values():
                if run.named(namespace, name):
                    return run
        raise KeyError(f"{namespace}/{name} runs on no node of the process kubelet")


@asynccontextmanager
async def running(api: Api, machine: Machine) -> AsyncIterator[Kubelet]:
    """Play nodes meanwhile."""
    kubelet = Kubelet(api, machine)
    task = asyncio.create_task(kubelet.run())
    try:
        yield kubelet
    finally:
        task.cancel()
        await asyncio.wait([task])
