"""Every query of the Grafana dashboard, asked of a real Prometheus that scrapes us.

A daemon with its embedded fleet and a gateway on a real Envoy that shares its slots over a real
Valkey; requests of every class go through the gateway until all queries have something to show.
"""

import asyncio
import json
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from controlplane.render.grafana.panels import queries
from tests.adapters.prometheus.server import Server, until
from tests.adapters.redis.server import Valkey
from tests.daemon.served import served
from tests.emulation.stand import MODEL, emulated, free_port
from tests.gateway.running import OPEN, ask
from tests.settings.fleet_text import SMALL

BOARD = json.loads(
    (Path(__file__).parents[3] / "deploy" / "grafana" / "controlplane.json").read_text("utf-8")
)
EXPRESSIONS = sorted(set(queries(BOARD)))
FLEET = SMALL.replace("classifier", MODEL).replace(f"/{MODEL}:1", "/classifier:1")
TRUSTING = f"gateway: {{trust: headers}}\n{FLEET}"
VARIABLES = {"$__rate_interval": "4s", "$model": ".*", "$priority": "high|medium|low"}
# The embedded world has these of models that are asked for and of engines that export them.
MAY_BE_UNKNOWN = re.compile(
    r"controlplane_(wait_p99|latency_p99|kv_cache|utilisation|drain|in_flight)"
)


def asked(expr: str) -> str:
    """Put in what Grafana would."""
    for name, value in VARIABLES.items():
        expr = expr.replace(name, value)
    assert "$" not in expr, expr
    return expr


@asynccontextmanager
async def gateway(folder: Path, engine: int, shared: str) -> AsyncIterator[tuple[int, int]]:
    """Run `gateway up`; gives its port and that of its metrics."""
    (folder / "gateway.yaml").write_text(TRUSTING)
    port, metrics = free_port(), free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "controlplane", "gateway", "up", str(folder / "gateway.yaml"),
        "--engine", f"{MODEL}=127.0.0.1:{engine}/2", "--port", str(port), "--shared", shared,
        "--metrics-port", str(metrics), "--data", str(folder),
        stdout=PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        assert await process.stdout.readline()
        yield port, metrics
    finally:
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def busy(port: int) -> None:
    """Ask as every class, for ever."""
    body = json.dumps({"model": MODEL, "max_tokens": 1, "prompt": "hello"}).encode()
    while True:
        for priority in ("high", "medium", "low"):
            headers = {"x_priority": priority, "content_type": "application/json"}
            await ask(port, "/v1/completions", body=body, key=None, **headers)
        for made in OPEN:
            await made.over()
        OPEN.clear()


class Asking:
    """Asks a Prometheus as Grafana does."""

    def __init__(self, session: ClientSession, address: str) -> None:
        self._session, self._address = session, address

    async def query(self, expr: str) -> list[float] | str:
        """Give the values of an instant query, or what is against it."""
        where = f"{self._address}/api/v1/query"
        async with self._session.post(where, data={"query": asked(expr)}) as answer:
            said: dict[str, Any] = await answer.json()
        if said["status"] != "success":
            return str(said["error"])
        return [float(one["value"][1]) for one in said["data"]["result"]]

    async def lacking(self) -> list[str]:
        """Name the queries that show nothing yet, or fail."""
        found = [(title, expr, await self.query(expr)) for title, expr in EXPRESSIONS]
        return [
            f"{title}: {expr}: {values}" for title, expr, values in found if not shown(expr, values)
        ]

    async def models(self) -> set[str]:
        """Give what the variable of models may be set to."""
        query = next(v for v in BOARD["templating"]["list"] if v["name"] == "model")["query"]
        match = re.fullmatch(r"label_values\((.+),model\)", query["query"])
        assert match is not None
        where = f"{self._address}/api/v1/label/model/values"
        async with self._session.get(where, params={"match[]": match[1]}) as answer:
            return set((await answer.json())["data"])


def shown(expr: str, values: list[float] | str) -> bool:
    if isinstance(values, str) or not values:
        return False
    return bool(MAY_BE_UNKNOWN.search(expr)) or not all(isnan(value) for value in values)


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_every_query_of_the_dashboard_shows_something(tmp_path: Path, server: Server) -> None:
    async with (
        Valkey() as valkey,
        emulated(slots=2) as engine,
        served(tmp_path, SMALL) as daemon,
        gateway(tmp_path, engine.port, valkey.url) as (port, metrics),
        ClientSession() as session,
    ):
        server.scrape((int(daemon.rpartition(":")[2]), {}), (metrics, {}))
        prometheus = Asking(session, server.address)
        asking = asyncio.create_task(busy(port))
        try:
            await until(prometheus.lacking, lambda lacking: not lacking)
            assert await prometheus.models() == {"classifier", MODEL}
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
