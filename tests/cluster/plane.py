"""The control plane: etcd, API server, controllers, scheduler, kwok; ended in reverse order."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import aiohttp

from tests.cluster import arguments
from tests.cluster.api import Api, RefusedError
from tests.cluster.child import Child
from tests.cluster.credentials import SERVER, Credentials, prepare
from tests.cluster.keda import Keda
from tests.cluster.modules import manifests
from tests.cluster.programs import KEDA, found

_PATIENCE_S = 120.0  # a machine may be busy; a plane that fails says so at once


class Plane:
    """Five processes in a folder."""

    def __init__(self, home: Path, programs: Mapping[str, Path]) -> None:
        self.home = home
        self.programs = programs
        self.credentials: Credentials = prepare(home / "credentials")
        self._keda: Keda | None = None
        self._served = 0  # requests that API servers before this one answered
        stages = _quick(home / "stages", manifests("kwok"))
        commands = [
            arguments.etcd(programs["etcd"], home),
            arguments.api_server(programs["kube-apiserver"], home, self.credentials),
            arguments.controllers(programs["kube-controller-manager"], self.credentials),
            arguments.scheduler(programs["kube-scheduler"], self.credentials),
            arguments.kwok(programs["kwok"], self.credentials, stages),
        ]
        self._children = [
            Child(command, home / f"{Path(command[0]).name}.log") for command in commands
        ]
        self._etcd, self._api_server, *self._others = self._children

    def caller(self, name: str = "admin") -> Api:
        """Give a caller of this plane's API server."""
        return Api(SERVER, self.credentials.token(name), self.credentials.ca)

    async def start(self) -> None:
        """Bring all up; give back when pods can be created."""
        await self._etcd.start()
        await self.start_api_server()
        for child in self._others:
            await child.start()
        async with self.caller() as api:
            # The controllers' first deed that anyone can see.
            await self._await(api, "/api/v1/namespaces/default/serviceaccounts/default")

    async def stop(self) -> None:
        """Stop all, in reverse order: etcd last."""
        if self._keda is not None:
            await self._keda.stop()
        for child in reversed(self._children):
            await child.stop()

    async def start_api_server(self) -> None:
        """Start the API server, again if need be; all else lives on."""
        await self._api_server.start()
        async with self.caller() as api:
            await self._await(api, "/readyz")

    async def stop_api_server(self) -> None:
        """Stop the API server and nothing else."""
        self._served = await self.requests()
        await self._api_server.stop()

    async def start_keda(self) -> None:
        """Start KEDA too; it stays until the end."""
        if self._keda is None:
            self._keda = Keda(self.home, found(KEDA), self.credentials)
            async with self.caller() as api:
                await self._keda.start(api)

    async def requests(self) -> int:
        """Count the requests that were served since the plane came up."""
        try:
            async with self.caller() as api:
                text = await api.text("/metrics")
        except (RefusedError, aiohttp.ClientError):
            return self._served
        counts = re.findall(r"^apiserver_request_total\{.*\} ([0-9.e+]+)$", text, re.MULTILINE)
        return self._served + int(sum(float(count) for count in counts))

    async def _await(self, api: Api, path: str) -> None:
        async with asyncio.timeout(_PATIENCE_S):
            while True:
                for child in self._children:
                    if child.started:
                        child.check()
                try:
                    await api.text(path)
                except (RefusedError, aiohttp.ClientError, TimeoutError):
                    await asyncio.sleep(0.05)
                else:
                    return


def _quick(folder: Path, stages: Sequence[Path]) -> list[Path]:
    """Give kwok's stages without their seconds of waiting; a pod's annotations may ask for them."""
    folder.mkdir()
    for stage in stages:
        text = stage.read_text("utf-8").replace("Milliseconds: 1000", "Milliseconds: 100")
        text = text.replace("Milliseconds: 5000", "Milliseconds: 300")
        (folder / stage.name).write_text(text, "utf-8")
    return sorted(folder.iterdir())
