"""One pod on a node of ours: its processes from binding to deletion."""

import asyncio
from collections.abc import Sequence

import aiohttp

from tests.cluster.api import Api, Manifest, RefusedError
from tests.cluster.kubelet import environment
from tests.cluster.kubelet.container import Container, Orders
from tests.cluster.kubelet.filesystem import Volumes, within
from tests.cluster.kubelet.machine import Seat
from tests.cluster.kubelet.probes import Target
from tests.cluster.kubelet.status import StatusOf
from tests.cluster.nodes import is_ready

_GRACE_S = 30.0


class PodRun:
    """Runs a pod at an address of its node."""

    def __init__(self, api: Api, pod: Manifest, address: str, seat: Seat) -> None:
        self.address = address
        self._api = api
        self._pod = pod
        self._seat = seat
        self._changed = asyncio.Event()
        self._ending = asyncio.Event()
        self._status = StatusOf(address, seat.host)
        self._written: Manifest | None = None
        meta = pod["metadata"]
        self._path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        self._folder = seat.machine.pods / f"{meta['namespace']}_{meta['name']}_{meta['uid']}"
        self._addresses = {"status.podIP": address, "status.hostIP": seat.host}
        self._volumes = Volumes(
            api, pod, self._folder / "volumes", seat.machine.authority, self._addresses
        )
        self._init: list[Container] = []
        self.containers: list[Container] = []

    async def _prepare(self) -> None:
        """Make its containers, as soon as all that they refer to is there."""
        spec = self._pod["spec"]
        policy = spec.get("restartPolicy", "Always")
        at_first = "Never" if policy == "Never" else "OnFailure"
        self._folder.mkdir(parents=True, exist_ok=True)
        while True:
            try:
                await self._volumes.fill()
                init = [
                    await self._container(one, at_first) for one in spec.get("initContainers", ())
                ]
                self.containers = [await self._container(one, policy) for one in spec["containers"]]
            except (RefusedError, aiohttp.ClientError, TimeoutError, KeyError):
                await asyncio.sleep(0.5)  # what it refers to may come yet
            else:
                self._init = init
                return

    async def _container(self, spec: Manifest, policy: str) -> Container:
        variables = await environment.variables(self._api, spec, self._pod, self._addresses)
        words = within(
            environment.command(spec, variables),
            spec,
            self._volumes.mounts(spec),
            self._folder / spec["name"],
            self._pod["metadata"]["name"],
        )
        target = Target(self.address, spec, variables)
        log = self._folder / f"{spec['name']}.log"
        orders = Orders(policy, self._seat.images.fetched, self._changed.set)
        return Container(spec, words, target, log, orders)

    def named(self, namespace: str, name: str) -> bool:
        """Say whether this is the pod of that name."""
        meta = self._pod["metadata"]
        return (meta["namespace"], meta["name"]) == (namespace, name)

    def container(self, name: str = "") -> Container:
        """Give a container; the first, if none is named."""
        return next(one for one in self.containers if name in {"", one.spec["name"]})

    def seen(self, pod: Manifest) -> None:
        """Take in what the API server says now."""
        self._pod = pod
        if "deletionTimestamp" in pod["metadata"]:
            self._ending.set()
        if self._written is not None and is_ready(pod) is not is_ready({"status": self._written}):
            self._written = None  # somebody else, who believed the node dead, has written it
        self._changed.set()  # a readiness gate may have moved

    def gone(self) -> None:
        """Take in that it was deleted at once: no grace is left."""
        self._pod["metadata"]["deletionGracePeriodSeconds"] = 0
        self._ending.set()

    async def run(self) -> None:
        """Run it from here to its end."""
        tasks = [asyncio.create_task(self._live()), asyncio.create_task(self._keep_written())]
        try:
            await self._ending.wait()
            await self._end()
        finally:
            for one in self._everyone():
                one.kill()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _live(self) -> None:
        await self._prepare()
        self._changed.set()
        for one in self._init:
            if await one.run():
                return
        async with asyncio.TaskGroup() as group:
            for one in self.containers:
                group.create_task(one.run())

    async def _end(self) -> None:
        meta = self._pod["metadata"]
        grace_s = float(meta.get("deletionGracePeriodSeconds", _GRACE_S))
        async with asyncio.TaskGroup() as group:
            for one in self._everyone():
                group.create_task(one.stop(grace_s))
        await self._speaking()
        await self._write()
        await self._insist_on_deletion()

    async def _insist_on_deletion(self) -> None:
        while True:
            await self._speaking()
            try:
                await self._api.delete(self._path, grace_s=0, uid=self._pod["metadata"]["uid"])
            except (RefusedError, aiohttp.ClientError, TimeoutError):
                await asyncio.sleep(0.5)
            else:
                return

    async def _keep_written(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._speaking()
            await self._write()

    async def _write(self) -> None:
        if not self.containers:
            return
        status = self._status.status(self._pod, self._init, self.containers)
        if status == self._written:
            return
        body = {"metadata": {"uid": self._pod["metadata"]["uid"]}, "status": status}
        try:
            await self._api.patch(f"{self._path}/status", body, "strategic")
            self._written = status
        except RefusedError as error:
            if error.status not in {404, 409}:  # gone, or another pod of this name by now
                self._later()
        except (aiohttp.ClientError, TimeoutError):
            self._later()

    def _later(self) -> None:
        asyncio.get_running_loop().call_later(0.5, self._changed.set)

    async def _speaking(self) -> None:
        await self._seat.voice.wait()

    def _everyone(self) -> Sequence[Container]:
        return [*self._init, *self.containers]
