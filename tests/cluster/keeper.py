"""Keeps a cluster: brings it up in this namespace, listens to tests, takes it down.

It is the first process of its namespace, so whatever it leaves behind ends with it.
"""

import asyncio
import os
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path

from controlplane.clock import stopwatch
from tests.cluster.control import listening
from tests.cluster.credentials import SERVER
from tests.cluster.handed import VARIABLE, Cluster
from tests.cluster.kubelet.kubelet import running
from tests.cluster.kubelet.machine import Machine
from tests.cluster.namespace import furnish
from tests.cluster.plane import Plane
from tests.cluster.programs import found, say, versions


async def keep(command: Sequence[str], told_at: Path | None = None) -> int:
    """Keep a cluster for as long as a command runs; with none, until told to end.

    `told_at` is written when the cluster is up, and says where it is.
    """
    furnish()
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
        home = Path(folder)
        programs = found()
        said = versions(programs)
        say(", ".join(f"{name} {version}" for name, version in said.items()))
        plane = Plane(home, programs)
        began = stopwatch()
        try:
            await plane.start()
            say(f"up in {stopwatch() - began:.1f} s")
            machine = Machine(home / "pods", plane.credentials.ca)
            async with (
                plane.caller("tests:kubelet") as api,
                running(api, machine) as kubelet,
                listening(plane, kubelet, home / "keeper.sock"),
            ):
                place = _hand_out(plane, said, told_at or home / "cluster.json")
                code = await (_run(command, place) if command else _told_to_end())
            say(f"{await plane.requests()} API requests served")
        finally:
            await plane.stop()
        return code


def _hand_out(plane: Plane, said: dict[str, str], place: Path) -> Path:
    cluster = Cluster(
        home=plane.home,
        server=SERVER,
        ca=plane.credentials.ca,
        admin_kubeconfig=plane.credentials.kubeconfig("admin"),
        admin_token=plane.credentials.token("admin"),
        audit_log=plane.home / "audit.log",
        socket=plane.home / "keeper.sock",
        kubectl=plane.programs["kubectl"],
        versions=said,
    )
    cluster.write(place)
    return place


async def _run(command: Sequence[str], place: Path) -> int:
    """Run a command beside the cluster; Ctrl-C is for it, not for us."""
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, VARIABLE: str(place)}
    )
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    loop.add_signal_handler(signal.SIGTERM, process.terminate)
    return await process.wait()


async def _told_to_end() -> int:
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    await told.wait()
    return 0
