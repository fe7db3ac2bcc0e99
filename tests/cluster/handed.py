"""What a test is handed: where the cluster is, and what it can be told to do.

The cluster lives in another process, which brought it up and takes it down; it is told over a
socket, so a test that blocks its own event loop blocks neither kubelet nor probes.
"""

import os
from pathlib import Path
from typing import Self

import aiohttp
import msgspec

from tests.cluster.api import Api, Manifest

VARIABLE = "CONTROLPLANE_TEST_CLUSTER"  # the file with a Cluster as JSON
WHY_NOT = "CONTROLPLANE_TEST_CLUSTER_MISSING"  # one sentence, where there is none


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster that is up."""

    home: Path
    server: str
    ca: Path
    admin_kubeconfig: Path
    admin_token: str
    audit_log: Path
    socket: Path
    kubectl: Path
    versions: dict[str, str]

    def write(self, place: Path) -> None:
        """Leave word where the cluster is."""
        half = place.with_suffix(".half")
        half.write_bytes(msgspec.json.encode(self, enc_hook=str))
        half.rename(place)

    @classmethod
    def read(cls, place: Path) -> Self:
        """Take up what was left."""
        return msgspec.json.decode(
            place.read_bytes(), type=cls, dec_hook=lambda kind, text: kind(text)
        )

    def api(self) -> Api:
        """Give an administrator's caller; use it as `async with`."""
        return Api(self.server, self.admin_token, self.ca)

    async def stop_api_server(self) -> None:
        """Stop the API server; everything else lives on."""
        await self.tell("api-server/stop")

    async def start_api_server(self) -> None:
        """Start it again; give back when it is ready."""
        await self.tell("api-server/start")

    async def start_keda(self) -> None:
        """Start a real KEDA, unless it is up; give back when the API server can ask it."""
        await self.tell("keda/start")

    async def silence(self, node: str) -> None:
        """Let a node's kubelet say nothing more; its processes go on answering."""
        await self.tell("node/silence", node=node)

    async def freeze(self, node: str) -> None:
        """Let a node die: no word from it, and no answer from its processes."""
        await self.tell("node/freeze", node=node)

    async def revive(self, node: str) -> None:
        """Let a node speak again; what was frozen starts anew."""
        await self.tell("node/revive", node=node)

    async def out_of_memory(self, namespace: str, pod: str, container: str = "") -> None:
        """Kill a container as the kernel does when memory is used up: OOMKilled, exit 137."""
        await self.tell("pod/oom", namespace=namespace, pod=pod, container=container)

    def log(self, namespace: str, pod: str, container: str = "engine") -> str:
        """Give what a container wrote, all its starts together, also after its end."""
        (folder,) = (self.home / "pods").glob(f"{namespace}_{pod}_*")
        return (folder / f"{container}.log").read_text(errors="replace")

    async def requests(self) -> int:
        """Count the API requests served so far."""
        return int((await self.tell("requests"))["requests"])

    async def tell(self, what: str, **details: str) -> Manifest:
        """Tell the cluster's keeper something."""
        connector = aiohttp.UnixConnector(str(self.socket))
        limit = aiohttp.ClientTimeout(total=180)
        async with (
            aiohttp.ClientSession(connector=connector, timeout=limit) as session,
            session.post(f"http://cluster/{what}", json=details) as answer,
        ):
            said: Manifest = await answer.json()
            if answer.status != 200:
                raise RuntimeError(f"{what}: {said.get('error', answer.status)}")
            return said


def handed() -> Cluster | str:
    """Give the cluster around this process, or why there is none."""
    place = os.environ.get(VARIABLE)
    if place:
        return Cluster.read(Path(place))
    return os.environ.get(WHY_NOT) or (
        "no test cluster: run `make test`, or python -m tests.cluster run -- pytest tests/cluster"
    )
