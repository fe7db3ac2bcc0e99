"""S1 to S9 where KEDA carries out what we say: a Prometheus that fails takes no replica away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web

from tests.adapters.prometheus.server import Server, page, prometheus, ready, serving
from tests.cluster.stage.daemon import Daemon
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.handed import Handed, let_publish
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until

pytestmark = [pytest.mark.keda, pytest.mark.usefixtures("keda"), pytest.mark.timeout(400)]
FAILURES = {  # and what people are told
    "stopped": "Unreachable: ADDRESS cannot be asked: Server disconnected",
    "slow": "Unreachable: ADDRESS did not answer within 3 s",
    "NaN": "Bad: 'NaN'",
    "empty": "Bad: sum(my_queue) gave no series",
    "two series": 'Bad: sum(my_queue) gave 2 series (by="a"; by="b"); sum(sum(my_queue)) gives one',
    "HTML": "Bad: <html>0</html>",
    "503": "Unreachable: ADDRESS answers 503",
}
Series = dict[str, Any]
REST, BUSY = 2, 3  # replicas, the spare included
HELD_S = 12.0  # longer than the window after which less load lets a replica go
QUERIES = """\
    queries:
      queue: sum(my_queue)
      arrivals: sum(my_arrivals)
      turned_away: sum(my_turned_away)
      in_flight: sum(my_running)
      wait_p99: max(my_wait)
      latency_p99: max(my_latency)
"""


class Failing:
    """Stands before a real Prometheus, and fails as it is told."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.how = ""

    async def query(self, request: web.Request) -> web.StreamResponse:
        match self.how:
            case "stopped":
                assert request.transport is not None
                request.transport.abort()
            case "slow":
                await asyncio.sleep(10)
            case "HTML":
                return web.Response(text="<html>0</html>", content_type="text/html")
            case "503":
                return web.Response(text="0", status=503)
        answer = await self._asked(request)
        answer["data"]["result"] = spoilt(answer["data"]["result"], self.how)
        return web.json_response(answer)

    async def _asked(self, request: web.Request) -> Any:
        async with (
            ClientSession() as session,
            session.request(
                request.method,
                f"{self._server.address}{request.path_qs}",
                data=await request.read(),
                headers={"Content-Type": request.content_type},
            ) as answered,
        ):
            return await answered.json()


def spoilt(found: list[Series], how: str) -> list[Series]:
    """Give what was found as a Prometheus would that has this wrong with it."""
    match how:
        case "empty":
            return []
        case "NaN":
            return [{**one, "value": [one["value"][0], "NaN"]} for one in found]
        case "two series":
            return [
                {**one, "metric": {**one["metric"], "by": by}} for one in found for by in ("a", "b")
            ]
    return found


@asynccontextmanager
async def measured(folder: Path, load: dict[str, float]) -> AsyncIterator[tuple[str, Failing]]:
    """Give a Prometheus that scrapes this load; its address, and how it is to fail."""
    with prometheus(folder) as server:
        await ready(server)
        failing = Failing(server)
        async with (
            page(lambda: "".join(f"my_{name} {x}\n" for name, x in load.items())) as exporter,
            serving({"/api/v1/query": failing.query}) as before_it,
        ):
            server.scrape((exporter, {}))
            yield before_it, failing


async def test_a_prometheus_that_fails_in_any_way_takes_no_replica_away(
    stage: Scene, tmp_path: Path
) -> None:
    await stage.nodes.add("T4", 1, zone="z1")
    await let_publish(stage)
    fleet = fleet_text(most=2, stabilisation_s=5.0, scaling="writer: keda")
    fleet = fleet.replace("    kind: chat\n", f"    kind: chat\n{QUERIES}")
    handed = Handed(stage, f"{fleet}signals: {{order: [prometheus]}}\n")
    load = {"queue": 40.0, "arrivals": 20.0, "turned_away": 0.0, "running": 4.0,
            "wait": 1.0, "latency": 2.0}  # fmt: skip

    async with (
        measured(tmp_path, load) as (address, failing),
        handed.daemon("--prometheus", address) as daemon,
        handed.sizes() as sizes,
    ):
        await sizes.reach(BUSY, 90.0)
        told: dict[str, str] = {}
        for how in FAILURES:
            await until(lambda: tells(daemon, known=True), 40.0)
            failing.how = how
            await until(lambda: tells(daemon, known=False), 40.0)
            told[how] = (await queue(daemon))["why"].replace(address, "ADDRESS")
            await asyncio.sleep(HELD_S)
            failing.how = ""
        await until(lambda: tells(daemon, known=True), 40.0)
        stayed = sizes.seen[sizes.seen.index(BUSY) :]
        load |= {"queue": 0.0, "arrivals": 0.1, "running": 0.0, "wait": 0.0, "latency": 0.2}
        await sizes.reach(REST, 90.0)  # it can fall, as soon as it is known that it may

    assert stayed == [BUSY]
    assert told == FAILURES


async def queue(daemon: Daemon) -> dict[str, Any]:
    told = (await daemon.get("/api/v1/models/chat/signals"))["signals"]
    return next(one for one in told if one["signal"] == "queue")


async def tells(daemon: Daemon, *, known: bool) -> bool:
    return ((await queue(daemon))["value"] is not None) == known
