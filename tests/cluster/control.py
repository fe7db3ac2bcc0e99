"""What tests may tell the keeper of their cluster, over a socket."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

from tests.cluster.api import Manifest
from tests.cluster.kubelet.container import Container
from tests.cluster.kubelet.kubelet import Kubelet
from tests.cluster.plane import Plane

Deed = Callable[[dict[str, str]], Awaitable[Manifest]]


class Control:
    """The deeds, by name."""

    def __init__(self, plane: Plane, kubelet: Kubelet) -> None:
        self._plane = plane
        self._kubelet = kubelet
        self.deeds: dict[str, Deed] = {
            "api-server/stop": self._stop,
            "api-server/start": self._start,
            "keda/start": self._keda,
            "requests": self._requests,
            "node/silence": self._silence,
            "node/freeze": self._freeze,
            "node/revive": self._revive,
            "pod/oom": self._oom,
        }

    async def _stop(self, _: dict[str, str]) -> Manifest:
        await self._plane.stop_api_server()
        return {}

    async def _start(self, _: dict[str, str]) -> Manifest:
        await self._plane.start_api_server()
        return {}

    async def _keda(self, _: dict[str, str]) -> Manifest:
        await self._plane.start_keda()
        return {}

    async def _requests(self, _: dict[str, str]) -> Manifest:
        return {"requests": await self._plane.requests()}

    async def _silence(self, told: dict[str, str]) -> Manifest:
        self._kubelet.node(told["node"]).silence()
        return {}

    async def _freeze(self, told: dict[str, str]) -> Manifest:
        self._kubelet.node(told["node"]).freeze()
        return {}

    async def _revive(self, told: dict[str, str]) -> Manifest:
        self._kubelet.node(told["node"]).revive()
        return {}

    async def _oom(self, told: dict[str, str]) -> Manifest:
        self._container(told).out_of_memory()
        return {}

    def _container(self, told: dict[str, str]) -> Container:
        return self._kubelet.pod(told["namespace"], told["pod"]).container(told["container"])


@asynccontextmanager
async def listening(plane: Plane, kubelet: Kubelet, socket: Path) -> AsyncIterator[None]:
    """Let tests tell the keeper what to do."""
    app = web.Application(middlewares=[_errors])
    for name, deed in Control(plane, kubelet).deeds.items():
        app.router.add_post(f"/{name}", _route(deed))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.UnixSite(runner, str(socket)).start()
        yield
    finally:
        await runner.cleanup()


def _route(deed: Deed) -> Handler:
    async def route(request: web.Request) -> web.StreamResponse:
        return web.json_response(await deed(await request.json()))

    return route


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException:
        raise
    except Exception as error:  # noqa: BLE001  # whatever it is, the test shall read it
        return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=500)
