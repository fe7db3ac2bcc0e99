"""A gateway of a pod: it joins the daemons, follows the one that leads, and leaves in order."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import aiohttp
import msgspec
import pytest
from aiohttp import web

from controlplane.domain.entrances import GatewayPolicy
from controlplane.domain.faults import FaultsError
from controlplane.domain.gateway import GatewayPlan
from controlplane.gateway.daemons import place
from controlplane.gateway.joining import Joining, Leaving, Orders, Report
from controlplane.gateway.messages import Breach, Counted
from controlplane.ports.gateways import PATH
from tests.emulation.stand import free_port
from tests.gateway.engine import Engine
from tests.gateway.running import CHAT, WITHIN_S, a_model, a_plan, ask, call, endpoint

pytestmark = pytest.mark.timeout(240)  # two commands and an Envoy start, on a busy machine
DECODE = msgspec.json.Decoder(Report).decode
GUARDED = GatewayPolicy(require_key=True)


class ADaemon:
    """What a daemon says and hears, on a real WebSocket."""

    def __init__(self, plan: GatewayPlan, *, leading: bool = True) -> None:
        self.orders = Orders(plan=plan, leading=leading)
        self.heard: list[Report] = []
        self.tokens: list[str] = []
        self.port = free_port()
        self._lines: list[web.WebSocketResponse] = []
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get(PATH, self._join)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        for line in self._lines:
            await line.close()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _join(self, request: web.Request) -> web.WebSocketResponse:
        self.tokens.append(request.headers.get("Authorization", ""))
        line = web.WebSocketResponse()
        await line.prepare(request)
        self._lines.append(line)
        await line.send_bytes(msgspec.json.encode(self.orders))
        async for said in line:
            self.heard.append(DECODE(said.data))
        self._lines.remove(line)
        return line

    async def say(self, plan: GatewayPlan) -> None:
        self.orders = msgspec.structs.replace(self.orders, plan=plan)
        for line in self._lines:
            await line.send_bytes(msgspec.json.encode(self.orders))

    def arrived(self) -> int:
        """Give how many arrived at chat since the newest line began."""
        told = [one for one in self.heard if isinstance(one, Counted) and CHAT in one.models]
        return sum(tally.arrived for tally in told[-1].models[CHAT]) if told else 0


class Pod:
    """Both containers of a gateway's pod, as processes that share a folder."""

    def __init__(self, folder: Path, *daemons: str, host: str = "127.0.0.1") -> None:
        folder.mkdir()
        self._host = host
        self.folder, self.port, self.metrics_port = folder, free_port(), free_port()
        self._daemons = [word for url in daemons for word in ("--daemon", url)]
        self.envoy: asyncio.subprocess.Process | None = None
        self.admission: asyncio.subprocess.Process | None = None

    async def run(self, *words: str) -> asyncio.subprocess.Process:
        command = (sys.executable, "-m", "controlplane", "gateway", *words)
        return await asyncio.create_subprocess_exec(*command, "--folder", str(self.folder))

    async def admit(self) -> None:
        """Start the container of admission."""
        token = self.folder.with_suffix(".token")
        token.write_text("cp_secret\n")
        self.admission = await self.run(
            "join", *self._daemons, "--token-file", str(token), "--name", "gw-1", "--zone", "z1",
            *("--host", self._host, "--port", str(self.port)),
            *("--metrics-port", str(self.metrics_port)),
        )  # fmt: skip

    async def start(self) -> None:
        self.envoy = await self.run("envoy", "--concurrency", "1")
        await self.admit()

    async def end(self) -> None:
        for process in (self.admission, self.envoy):
            if process is not None and process.returncode is None:
                process.kill()
                await process.wait()

    async def probed(self, path: str = "/readyz") -> tuple[int, str]:
        url = f"http://127.0.0.1:{self.metrics_port}{path}"
        try:
            async with aiohttp.ClientSession() as session, session.get(url) as answer:
                return answer.status, (await answer.text()).strip()
        except aiohttp.ClientError as error:
            return 0, str(error)

    async def ready(self) -> None:
        """Await that the pod's probe is content."""
        said: tuple[int, str] = (0, "")
        try:
            async with asyncio.timeout(60):
                while (said := await self.probed())[0] != 200:  # noqa: ASYNC110  # a process
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"it is not ready: {said}") from None


@asynccontextmanager
async def a_pod(folder: Path, *daemons: str, **more: str) -> AsyncIterator[Pod]:
    pod = Pod(folder, *daemons, **more)
    try:
        await pod.start()
        yield pod
    finally:
        await pod.end()


async def until(holds: Any) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not holds():  # noqa: ASYNC110  # others are processes of their own
            await asyncio.sleep(0.02)


async def test_it_serves_what_it_is_told_and_tells_what_it_counts(tmp_path: Path) -> None:
    async with Engine() as engine:
        plan = a_plan(a_model(endpoint(engine)), policy=GUARDED)
        async with ADaemon(plan) as daemon, a_pod(tmp_path / "pod", daemon.url) as pod:
            await pod.ready()
            statuses = [(await ask(pod.port)).status for _ in range(3)]
            await until(lambda: daemon.arrived() == 3)
            await daemon.say(a_plan(a_model(), policy=GUARDED))
            await eventually(lambda: waits_in_vain(pod))
            await until(lambda: Breach(CHAT, "waiting") in daemon.heard)  # told at once
            await daemon.say(plan)
            await eventually(lambda: served(pod))
            alive = await pod.probed("/healthz")
            _, figures = await pod.probed("/metrics")

    joining = daemon.heard[0]
    assert statuses == [200, 200, 200]
    assert isinstance(joining, Joining)
    assert (joining.name, joining.address, joining.zone) == ("gw-1", "127.0.0.1", "z1")
    assert daemon.tokens == ["Bearer cp_secret"]
    assert alive == (200, "ok")
    assert 'controlplane_gateway_arrived_total{model="chat",priority="high"}' in figures


async def test_of_several_daemons_it_follows_the_one_that_leads(tmp_path: Path) -> None:
    async with Engine() as engine:
        good = a_plan(a_model(endpoint(engine)), policy=GUARDED)
        async with (
            ADaemon(a_plan(policy=GUARDED), leading=False) as follows,
            ADaemon(good) as leads,
            a_pod(tmp_path / "pod", follows.url, leads.url) as pod,
        ):
            await pod.ready()
            await eventually(lambda: served(pod))
            await follows.say(a_plan(policy=GUARDED))
            await until(lambda: follows.arrived() and leads.arrived())  # both are told of it
            last = await ask(pod.port)

    assert last.status == 200


async def test_killed_admission_goes_on_without_a_daemon_and_the_stream_is_not_cut(
    tmp_path: Path,
) -> None:
    """What it was told last lies in the folder, and its Envoy never ended."""
    async with Engine() as engine:
        plan = a_plan(a_model(endpoint(engine)), policy=GUARDED)
        async with ADaemon(plan) as daemon, a_pod(tmp_path / "pod", daemon.url) as pod:
            await pod.ready()
            stream = await call(pod.port, how="stream")
            await stream.first_byte()
            await until(lambda: daemon.arrived() == 1)
            await daemon.__aexit__()
            assert pod.admission is not None
            pod.admission.kill()
            await pod.admission.wait()
            await pod.admit()
            await pod.ready()
            again = await ask(pod.port)
            engine.release.set()
            rest = await stream.chunks()
            await stream.over()

    assert again.status == 200
    assert b"[DONE]" in rest


async def test_leaving_it_waits_for_what_runs_and_takes_nothing_new(tmp_path: Path) -> None:
    async with Engine() as engine:
        plan = a_plan(a_model(endpoint(engine)), policy=GUARDED)
        async with ADaemon(plan) as daemon, a_pod(tmp_path / "pod", daemon.url) as pod:
            await pod.ready()
            stream = await call(pod.port, how="stream")
            await stream.first_byte()
            leaving = await pod.run("leave", "--leave-s", "0.5", "--within-s", "60")
            await eventually(lambda: is_unready(pod))
            await eventually(lambda: is_deaf(pod))
            waits = leaving.returncode is None
            engine.release.set()
            rest = await stream.chunks()
            await stream.over()
            code = await leaving.wait()
            assert pod.admission is not None
            pod.admission.terminate()
            ended = await pod.admission.wait()

    assert waits
    assert b"[DONE]" in rest
    assert (code, ended) == (0, 0)
    assert daemon.heard[-1] == Leaving()


async def test_beyond_this_machine_it_serves_nobody_who_need_not_say_who_they_are(
    tmp_path: Path,
) -> None:
    """It says so to its probe, and serves as soon as the fleet file asks for keys."""
    async with Engine() as engine:
        unguarded = a_plan(a_model(endpoint(engine)))
        async with (
            ADaemon(unguarded) as daemon,
            a_pod(tmp_path / "pod", daemon.url, host="0.0.0.0") as pod,
        ):
            await eventually(lambda: is_refused(pod))
            deaf = await is_deaf(pod)
            await daemon.say(msgspec.structs.replace(unguarded, policy=GUARDED))
            await pod.ready()

    assert deaf


@pytest.mark.parametrize("url", ["https://a:1", "a:1", "http://", "http://a:x", "http://a/b"])
def test_where_no_daemon_can_be_is_said(url: str) -> None:
    with pytest.raises(FaultsError, match=r"must be http://HOST:PORT"):
        place(url)


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await holds():  # noqa: ASYNC110  # others are processes of their own
            await asyncio.sleep(0.02)


async def waits_in_vain(pod: Pod) -> bool:
    return (await ask(pod.port, x_deadline_s="0.2")).status == 504


async def served(pod: Pod) -> bool:
    return (await ask(pod.port)).status == 200


async def is_unready(pod: Pod) -> bool:
    return (await pod.probed())[0] == 503


async def is_refused(pod: Pod) -> bool:
    status, told = await pod.probed()
    return status == 503 and "gateway.require_key" in told


async def is_deaf(pod: Pod) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", pod.port)
    except OSError:
        return True
    writer.close()
    return False
