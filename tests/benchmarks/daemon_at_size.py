"""A whole daemon before 2,000 nodes and 10,000 pods: `controlplane serve`, advising, as deployed.

Of the pods 100 are replicas of 100 models, whose engines answer every second with vLLM's page at
its real length; the rest are other people's and hold devices. Limits: the first full view within
15 s of the command, at most 400 MB, then at most one second of CPU a cycle, in which lanes of 20
pods are flipped by somebody else. `bench_kubernetes` furnishes the cluster for it.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from textwrap import dedent
from time import perf_counter
from typing import Any

import aiohttp

from controlplane.domain import marks
from tests.benchmarks.bench_engines import PORT, SERVER
from tests.benchmarks.bench_serve import processor_s
from tests.cluster.accounts import daemon_account
from tests.cluster.api import Api
from tests.cluster.handed import Cluster
from tests.cluster.stage.waiting import until

MODELS = 100
CYCLES, CYCLE_S, FLIPS = 12, 5.0, 20
SETTLES_S = 20.0
UP = re.compile(r"is up at (\S+)")
KWOK_PODS = "10.64.0.0/11"  # their addresses, made local: one process answers on all of them

CLASS = """
    node_classes:
      A100-80G:
        vendor: nvidia
        resource: nvidia.com/gpu
        vram_gib: 80
        price_per_hour: 3.43
        runtime: {kind: cuda, version: "12.8"}
        labels: {nvidia.com/gpu.product: "NVIDIA-A100-SXM4-80GB"}
    models:
"""
MODEL = """
      %s:
        team: support
        kind: chat
        need: {vram_gib: 60}
        serving: {engine: vllm, port: %d, pre_pull: none}
        variants:
          A100-80G:
            image: emulated:1
            runtime: {kind: cuda, version: "12.8"}
            slots: 8
            service_s: 1
            load_s: 30
            container: {command: [serve]}
        policy: {scaling: {min: 1, max: 10}, spare: {count: 0}}
"""


def fleet() -> str:
    """Write the fleet file."""
    models = (dedent(MODEL % (f"m{number:03d}", PORT)) for number in range(MODELS))
    return dedent(CLASS) + "".join(
        "".join(f"  {line}\n" for line in model.strip("\n").splitlines()) for model in models
    )


async def hand_over(api: Api, space: str, pods: int) -> None:
    """Let the first pods be replicas of one model each, and the rest nobody's of ours."""
    limit = asyncio.Semaphore(40)

    async def label(number: int) -> None:
        ours = {marks.MODEL: f"m{number:03d}", marks.CLASS: "A100-80G", marks.LANE: "serving"}
        labels = ours if number < MODELS else dict.fromkeys((marks.MODEL, marks.CLASS, marks.LANE))
        async with limit:
            path = f"/api/v1/namespaces/{space}/pods/chat-{number}"
            await api.patch(path, {"metadata": {"labels": labels}})

    await asyncio.gather(*(label(number) for number in range(pods)))


@contextmanager
def answering() -> Iterator[None]:
    """Answer as an engine on every address of every pod."""
    for words in (["ip", "addr", "replace", KWOK_PODS, "dev", "lo"],):
        subprocess.run(words, check=True)
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        try:
            yield
        finally:
            server.kill()


@asynccontextmanager
async def serving(kubeconfig: Path, space: str, folder: Path) -> AsyncIterator[tuple[int, str]]:
    """Run a daemon; gives its process id and address as soon as it says that it is up."""
    (folder / "fleet.yaml").write_text(fleet())
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controlplane", "serve", "--port", "0", "--log", "warning"),
        *("--kubeconfig", str(kubeconfig), "--namespace", space),
        *("--config", str(folder / "fleet.yaml"), "--data", str(folder / "store")),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ,
    )
    try:
        assert process.stdout is not None
        up = UP.search((await process.stdout.readline()).decode())
        assert up is not None
        yield process.pid, up[1]
    finally:
        process.terminate()
        await process.wait()


async def measure(cluster: Cluster, space: str, nodes: int, pods: int) -> None:
    """Print what the daemon takes to see it all, and then every cycle."""
    async with cluster.api() as api:
        await hand_over(api, space, pods)
        account = await daemon_account(api, cluster, space)
        with answering(), tempfile.TemporaryDirectory() as folder:
            began = perf_counter()
            async with (
                serving(account.kubeconfig, space, Path(folder)) as (pid, url),
                aiohttp.ClientSession(url) as session,
            ):
                await first_view(session, pid, began, nodes)
                await asyncio.sleep(SETTLES_S)
                await cycles(api, space, pid)
                print(f"daemon: {_memory(pid)} (limit 400 MB)")


async def first_view(session: aiohttp.ClientSession, pid: int, began: float, nodes: int) -> None:
    """Await that it is ready, and shows every node and every replica, whatever state they are in.

    A plane on few cores does not keep 2,000 nodes Ready all the time.
    """

    async def ready() -> bool:
        async with session.get("/readyz") as answer:
            return answer.status == 200

    await until(ready, 120.0)
    at, cpu = perf_counter() - began, processor_s(pid)

    seen: list[int] = []

    async def whole() -> bool:
        of_nodes = await _asked(session, "/api/v1/nodes")
        of_models = await _asked(session, "/api/v1/models")
        seen[:] = [len(of_nodes), sum(_replicas(row) for row in of_models)]
        return seen == [nodes, MODELS]

    await until(whole, 120.0, lambda: f"nodes and replicas are {seen}")
    print(
        f"daemon: ready after {at:.1f} s, {cpu:.1f} s of CPU; {nodes} nodes and {MODELS} replicas "
        f"shown after {perf_counter() - began:.1f} s (limit 15 s); {_memory(pid)}; {_busy()}",
        flush=True,
    )


async def cycles(api: Api, space: str, pid: int) -> None:
    """Flip lanes of pods, and see what a cycle costs the daemon."""
    used = []
    for cycle in range(CYCLES):
        cpu, ends = processor_s(pid), perf_counter() + CYCLE_S
        for number in range(FLIPS):  # out of service, and back in the next cycle
            path = f"/api/v1/namespaces/{space}/pods/chat-{number}"
            lane = ("draining", "serving")[cycle % 2]
            await api.patch(path, {"metadata": {"labels": {marks.LANE: lane}}})
        await asyncio.sleep(max(0.0, ends - perf_counter()))
        used.append(processor_s(pid) - cpu)
    print(
        f"daemon: {sum(used) / len(used):.2f} s of CPU a cycle of {CYCLE_S:g} s, "
        f"{max(used):.2f} s at most of {CYCLES} (limit 1 s); {_busy()}",
        flush=True,
    )


def _replicas(row: dict[str, Any]) -> int:
    lanes = row["lanes"] or {}
    return sum(lanes.get(lane, 0) for lane in ("serving", "warm", "loading", "draining", "lost"))


def _busy() -> str:
    return "load average " + ", ".join(f"{each:.1f}" for each in os.getloadavg())


def _memory(pid: int) -> str:
    fields = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    now, most = (int(fields[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "VmHWM"))
    return f"{now:.0f} MB, {most:.0f} MB at most"


async def _asked(session: aiohttp.ClientSession, path: str) -> list[dict[str, Any]]:
    async with session.get(path) as answer:
        found: list[dict[str, Any]] = await answer.json()
        return found
