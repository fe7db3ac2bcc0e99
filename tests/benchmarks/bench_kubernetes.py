"""A large cluster seen through the real API server: 2,000 nodes, 10,000 pods.

Limits: first full view within 15 s, at most 400 MB of memory, then at most one second of CPU a
cycle, and the event loop never held up for more than 50 ms of CPU. Nodes and pods are kwok's; the
reader is a process of its own, so that nobody else's memory and time are measured; a whole daemon
comes after it (`daemon_at_size`). Takes about eight minutes, most of them for the pods to come up,
and needs the binaries of tests/cluster.
"""

import asyncio
import resource
import subprocess
import sys
from pathlib import Path
from random import Random
from time import perf_counter, process_time

from controlplane.adapters.kubernetes.cache import Cache
from controlplane.adapters.kubernetes.client import open_api
from controlplane.adapters.kubernetes.resources import PODS, Place
from controlplane.adapters.kubernetes.view import Sight
from controlplane.domain import marks
from tests.adapters.kubernetes.objects import CATALOGUE, GPU
from tests.adapters.kubernetes.told import Told
from tests.benchmarks import daemon_at_size
from tests.benchmarks.yardstick import additions_ns
from tests.cluster.api import Api, Manifest
from tests.cluster.handed import Cluster, handed
from tests.cluster.nodes import KINDS, node
from tests.cluster.programs import MissingError, found
from tests.cluster.stage.waiting import until
from tests.cluster.workloads import pod, pod_spec

NODES, PODS_THERE = 2_000, 10_000
WAIT_S = 600.0
AT_ONCE = 40  # requests under way while the fleet is made
CYCLES, CYCLE_S = 6, 5.0
LOOKS = 2  # scaling and spare look every cycle
FLIPS = 20  # lanes that are flipped in a cycle
SPACE = "bench"
SELF = "tests.benchmarks.bench_kubernetes"


async def furnish(cluster: Cluster) -> None:
    """Make nodes and bound pods, and wait until all of them say that they run."""
    limit = asyncio.Semaphore(AT_ONCE)
    labels = {marks.MODEL: "chat", marks.CLASS: "T4", marks.LANE: "serving"}

    async def put(api: Api, manifest: Manifest) -> None:
        async with limit:
            await api.create(manifest)

    def a_pod(number: int) -> Manifest:
        spec = pod_spec(f"n{number % NODES}")
        spec["containers"][0]["resources"] = {"limits": {GPU: "1"}}
        return pod(SPACE, f"chat-{number}", spec, labels)

    async with cluster.api() as api:
        await api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
        manifests = [node(f"n{i}", KINDS["A100-80G"], kubelet="kwok") for i in range(NODES)]
        await asyncio.gather(*(put(api, manifest) for manifest in manifests))
        await asyncio.gather(*(put(api, a_pod(number)) for number in range(PODS_THERE)))
        path = f"/api/v1/namespaces/{SPACE}/pods?limit=1&fieldSelector=status.phase%3DPending"
        try:
            await until(lambda: none_left(api, path), WAIT_S)
        except AssertionError:  # a busy machine: what is there is looked at
            print(f"not all of them run after {WAIT_S:g} s", flush=True)


async def none_left(api: Api, path: str) -> bool:
    return not (await api.get(path))["items"]


def resident_mib() -> float:
    """Give the memory this process has now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


async def look(kubeconfig: Path) -> None:
    """Be the daemon's read side: first view, then cycles in which some lanes are flipped."""
    began, cpu = perf_counter(), process_time()
    api = await open_api(kubeconfig)
    cache = Cache(api, SPACE, lambda: None, Random(1))
    task, told, sight = asyncio.create_task(cache.run()), Told(), Sight(cache)
    held = asyncio.create_task(_held_up())
    assert await cache.ready(120)
    view = await sight.view(CATALOGUE, told, 0.0)
    assert isinstance(view.nodes, tuple)
    print(
        f"first view: {len(view.nodes)} nodes, {len(view.replicas)} pods after "
        f"{perf_counter() - began:.1f} s, {process_time() - cpu:.1f} s of CPU, "
        f"{resident_mib():.0f} MiB (limits 15 s, 400 MiB)"
    )
    for cycle in range(CYCLES):
        cpu, revision = process_time(), cache.pods.revision
        for number in range(FLIPS):
            place = Place(PODS, SPACE, f"chat-{cycle * FLIPS + number}")
            await api.patch(place, {"metadata": {"labels": {marks.LANE: "warm"}}})
        for _ in range(LOOKS):
            await sight.view(CATALOGUE, told, 0.0)
            await sight.engines_at(CATALOGUE)
        await asyncio.sleep(CYCLE_S)
        print(
            f"cycle: {process_time() - cpu:.2f} s of CPU, {cache.pods.revision - revision} "
            f"changes (limit 1 s)"
        )
    held.cancel()
    worst = (await asyncio.gather(held, return_exceptions=True))[0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"a bare addition takes {additions_ns():.0f} ns")
    print(f"event loop held up for {WORST[0] * 1000:.0f} ms at most, {peak:.0f} MiB at most")
    assert isinstance(worst, asyncio.CancelledError)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await api.close()


WORST = [0.0]


async def _held_up() -> None:
    """Note the most CPU time between two turns: others' use of the machine does not count."""
    while True:
        before = process_time()
        await asyncio.sleep(0)
        await asyncio.sleep(0.01)  # looking more often would itself cost what is measured
        WORST[0] = max(WORST[0], process_time() - before)


def main() -> None:
    """Furnish the cluster around us and look at it; without one, bring one up around us."""
    if sys.argv[1:2] == ["look"]:
        asyncio.run(look(Path(sys.argv[2])))
        return
    cluster = handed()
    if isinstance(cluster, Cluster):
        began = perf_counter()
        asyncio.run(furnish(cluster))
        print(f"furnished after {perf_counter() - began:.0f} s", flush=True)
        command = [sys.executable, "-m", SELF, "look", str(cluster.admin_kubeconfig)]
        subprocess.run(command, check=True)
        asyncio.run(daemon_at_size.measure(cluster, SPACE, NODES, PODS_THERE))
        return
    try:
        found()
    except MissingError as why:
        print(f"skipped: {why}")
        return
    command = ["-m", "tests.cluster", "run", "--", sys.executable, "-m", SELF]
    subprocess.run([sys.executable, *command], check=True)


if __name__ == "__main__":
    main()
