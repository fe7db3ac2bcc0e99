"""One node: its pods, its lease and its status; it can be told to fall silent, or to freeze."""

import asyncio
from contextlib import suppress

import aiohttp

from controlplane.clock import wall
from tests.cluster.api import Api, Manifest, RefusedError
from tests.cluster.arguments import PULL_S
from tests.cluster.kubelet.machine import Images, Machine, Seat
from tests.cluster.kubelet.moments import fine_stamp, stamp
from tests.cluster.kubelet.pod import PodRun
from tests.cluster.nodes import is_ready

_BEAT_S = 4.0
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
_TROUBLES = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")


class NodeRun:
    """Plays the kubelet of one node, whose pods live in 10.244.`number`.0/24."""

    def __init__(self, api: Api, node: Manifest, number: int, machine: Machine) -> None:
        self.name: str = node["metadata"]["name"]
        notes = node["metadata"].get("annotations", {})
        self.pods: dict[str, PodRun] = {}
        self._api = api
        self._network = f"10.244.{number}"
        self._next = 0
        self._voice = asyncio.Event()
        self._voice.set()
        self._due = asyncio.Event()
        self._written: Manifest | None = None
        self._images = Images(float(notes.get(PULL_S, "0")), self._due.set)
        self._seat = Seat(machine, f"{self._network}.1", self._images, self._voice)
        self._runs: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Be the node until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._beat())
                group.create_task(self._follow())
        finally:
            for task in self._runs.values():
                task.cancel()
            if self._runs:
                await asyncio.wait(list(self._runs.values()))

    def silence(self) -> None:
        """Say nothing more; the processes go on, as when a kubelet hangs."""
        self._voice.clear()

    def freeze(self) -> None:
        """Say nothing more, and let no process answer, as when the machine is dead."""
        self.silence()
        for pod in self.pods.values():
            for container in pod.containers:
                container.freeze()

    def revive(self) -> None:
        """Speak again; what was frozen has to start anew."""
        for pod in self.pods.values():
            for container in pod.containers:
                if container.frozen:
                    container.kill()
        self._voice.set()

    def seen(self, node: Manifest) -> None:
        """Take in what the API server says of it: whoever doubts it is told at once."""
        if not is_ready(node):
            self._written = None
            self._due.set()

    async def _beat(self) -> None:
        """Renew the lease every few seconds, and write the status whenever it is another."""
        while True:
            await self._voice.wait()
            self._due.clear()
            wait_s = _BEAT_S
            try:
                await self._renew()
                await self._write()
            except (RefusedError, aiohttp.ClientError, TimeoutError):
                wait_s = 0.5  # the API server is away; a beat is due as soon as it is back
            with suppress(TimeoutError):
                await asyncio.wait_for(self._due.wait(), wait_s)

    async def _write(self) -> None:
        status = self._status()
        if status != self._written:
            now = stamp(wall())
            conditions = [{**one, "lastHeartbeatTime": now} for one in status["conditions"]]
            body = {"status": {**status, "conditions": conditions}}
            await self._api.patch(f"/api/v1/nodes/{self.name}/status", body, "strategic")
            self._written = status

    async def _renew(self) -> None:
        spec = {"holderIdentity": self.name, "leaseDurationSeconds": 40,
                "renewTime": fine_stamp(wall())}  # fmt: skip
        try:
            await self._api.patch(f"{_LEASES}/{self.name}", {"spec": spec})
        except RefusedError as error:
            if error.status != 404:
                raise
            meta = {"name": self.name, "namespace": "kube-node-lease"}
            await self._api.post(_LEASES, {"metadata": meta, "spec": spec})

    def _status(self) -> Manifest:
        conditions = [
            {"type": "Ready", "status": "True", "reason": "KubeletReady"},
            *({"type": kind, "status": "False", "reason": "None"} for kind in _TROUBLES),
        ]
        return {
            "conditions": conditions,
            "images": self._images.status(),
            "addresses": [
                {"type": "InternalIP", "address": self._seat.host},
                {"type": "Hostname", "address": self.name},
            ],
        }

    async def _follow(self) -> None:
        """Watch this node's pods, again and again; a listing shows what is gone meanwhile."""
        while True:
            await self._voice.wait()
            try:
                await self._look()
            except (RefusedError, aiohttp.ClientError, TimeoutError):
                await asyncio.sleep(0.3)

    async def _look(self) -> None:
        path, mine = "/api/v1/pods", {"fieldSelector": f"spec.nodeName={self.name}"}
        listed = await self._api.get(path, **mine)
        there = {pod["metadata"]["uid"] for pod in listed["items"]}
        for uid, run in self.pods.items():
            if uid not in there:
                run.gone()
        for pod in listed["items"]:
            self._take_in("ADDED", pod)
        since = listed["metadata"]["resourceVersion"]
        async for kind, pod in self._api.follow(path, since, **mine):
            if not self._voice.is_set():
                return
            self._take_in(kind, pod)

    def _take_in(self, kind: str, pod: Manifest) -> None:
        uid = pod["metadata"]["uid"]
        run = self.pods.get(uid)
        if kind == "DELETED":
            if run is not None:
                run.gone()
        elif run is not None:
            run.seen(pod)
        elif pod.get("status", {}).get("phase") not in {"Succeeded", "Failed"}:
            self._begin(uid, pod)

    def _begin(self, uid: str, pod: Manifest) -> None:
        address = self._address()
        run = PodRun(self._api, pod, address, self._seat)
        self.pods[uid] = run
        run.seen(pod)
        self._runs[uid] = task = asyncio.create_task(run.run())

        def over(_: asyncio.Task[None]) -> None:
            self.pods.pop(uid, None)
            self._runs.pop(uid, None)

        task.add_done_callback(over)

    def _address(self) -> str:
        used = {pod.address for pod in self.pods.values()}
        for _ in range(252):
            self._next = self._next % 252 + 1
            address = f"{self._network}.{self._next + 1}"
            if address not in used:
                return address
        raise RuntimeError(f"{self.name}: all 252 addresses are taken")
