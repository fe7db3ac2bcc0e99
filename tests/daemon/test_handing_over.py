"""`serve` tells others: a KEDA that asks, an HPA that reads its metrics, people by a webhook."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from aiohttp import ClientSession, web
from grpc import aio

from tests.adapters.keda.asking import Keda
from tests.adapters.prometheus.server import page, prometheus, ready, serving
from tests.daemon.served import get, served, until
from tests.emulation.stand import free_port
from tests.settings.fleet_text import SMALL

MODEL = "classifier"
LEFT = "scaling: {min: 2, max: 3, writer: WRITER}"
KEDA, HPA = (
    SMALL.replace("scaling: {min: 1, max: 3}", LEFT.replace("WRITER", writer))
    for writer in ("keda", "hpa")
)
ASKED = KEDA.replace(
    "    team: support\n", '    team: support\n    queries: {queue: "sum(my_backlog)"}\n'
) + ("signals: {order: [prometheus]}\n")
BLIND = SMALL + (
    "signals: {order: [prometheus]}\nalerts: {no_data_s: 30, after_s: 3000, group_wait_s: 0}\n"
)


async def answer(keda: Keda, metric: str) -> tuple[int, float]:
    """Ask as KEDA does, until something is known."""
    async with asyncio.timeout(40):
        while True:
            try:
                return await keda.value(model=MODEL, metric=metric)
            except aio.AioRpcError:
                await asyncio.sleep(0.1)


async def test_keda_is_answered_with_what_was_decided(tmp_path: Path) -> None:
    where = f"127.0.0.1:{free_port()}"
    async with (
        served(tmp_path, KEDA, "--scaler", where) as daemon,
        aio.insecure_channel(where) as channel,
    ):
        keda = Keda(channel)
        spec = await keda.spec(model=MODEL)
        told = await answer(keda, "target"), await answer(keda, "weighted_depth")
        decided = get(daemon, f"/models/{MODEL}")["row"]["target"]

    assert spec == ("target", 1, 1.0)
    assert told[0] == (decided, float(decided))
    assert told[0][0] >= 2
    assert told[1][0] == told[1][1] >= 0


async def test_k3_while_prometheus_takes_ten_seconds_the_last_good_value_comes_at_once(
    tmp_path: Path,
) -> None:
    where, slow, kept_waiting = f"127.0.0.1:{free_port()}", asyncio.Event(), 0

    async def slowly(request: web.Request) -> web.Response:
        """Stand before a real Prometheus."""
        nonlocal kept_waiting
        if slow.is_set():
            kept_waiting += 1
            await asyncio.sleep(10)
        async with ClientSession() as session:
            asked = session.request(
                request.method,
                f"{server.address}{request.path_qs}",
                data=await request.read(),
                headers={"Content-Type": request.content_type},
            )
            async with asked as answered:
                return web.Response(body=await answered.read(), content_type="application/json")

    with prometheus(tmp_path) as server:
        await ready(server)
        async with (
            page(lambda: "my_backlog 7\n") as exporter,
            serving({"/api/v1/query": slowly}) as before_it,
            served(tmp_path, ASKED, "--scaler", where, "--prometheus", before_it, speed=1.0),
            aio.insecure_channel(where) as channel,
        ):
            server.scrape((exporter, {}))
            keda = Keda(channel)
            assert await answer(keda, "weighted_depth") == (7, 7.0)
            slow.set()
            answers = set()
            left = 8  # times to ask while Prometheus keeps the daemon waiting
            while left:
                async with asyncio.timeout(1):
                    answers.add(await keda.value(model=MODEL, metric="weighted_depth"))
                await asyncio.sleep(0.25)
                left -= 1 if kept_waiting else 0

    assert answers == {(7, 7.0)}


async def test_an_hpa_reads_how_many_pods_are_wanted(tmp_path: Path) -> None:
    def wanted(daemon: str) -> list[str]:
        with urlopen(f"{daemon}/metrics") as page:
            lines = page.read().decode().splitlines()
        return [line for line in lines if line.startswith("controlplane_wanted_replicas{")]

    async with served(tmp_path, HPA) as daemon:
        (line,) = await until(lambda: wanted(daemon), bool)

    assert f'model="{MODEL}"' in line
    assert float(line.rpartition(" ")[2]) >= 2


async def test_an_alert_comes_to_the_receiver(tmp_path: Path) -> None:
    come: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def hook(request: web.Request) -> web.Response:
        come.put_nowait(json.loads(await request.read()))
        return web.Response()

    dead = f"http://127.0.0.1:{free_port()}"
    async with (
        serving({"/hook": hook}) as receiver,
        served(tmp_path, BLIND, "--prometheus", dead, "--alerts", f"{receiver}/hook") as daemon,
        asyncio.timeout(40),
    ):
        message = await come.get()

    (alert,) = message["alerts"]
    assert (message["status"], message["externalURL"]) == ("firing", daemon)
    assert alert["labels"] == {
        "alertname": "ControlplaneNoData",
        "model": MODEL,
        "severity": "warning",
    }
    assert (
        f"the queue of {MODEL} is not known: Unreachable: {dead} cannot be asked"
        in (alert["annotations"]["summary"])
    )


def test_whoever_does_not_hand_over_loads_neither_grpc_nor_kubernetes() -> None:
    code = "import sys, controlplane.cli.serve; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert {"grpc", "kubernetes_asyncio", "redis"}.isdisjoint(ended.stdout.split())
