"""A daemon as people run it: the command, in a process of its own, on the test cluster."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.cluster.stage.waiting import until

_STARTS_S = 60.0
_UP = re.compile(r"is up at (\S+)")


class Daemon:
    """A running `controlplane serve`."""

    def __init__(self, process: asyncio.subprocess.Process, url: str, log: Path) -> None:
        self._process = process
        self.url = url
        self.log = log

    async def get(self, path: str) -> Any:
        """Ask its API."""
        async with aiohttp.ClientSession() as session, session.get(f"{self.url}{path}") as answer:
            return await answer.json()

    async def decisions(self, model: str = "chat") -> list[dict[str, Any]]:
        """Give what it decided about a model, newest first."""
        listed: list[dict[str, Any]] = (
            await self.get(f"/api/v1/decisions?model={model}&limit=200")
        )["rows"]
        return listed

    async def codes(self, model: str = "chat") -> set[str]:
        """Give every code that spoke in its decisions about a model."""
        rows = await self.decisions(model)
        return {said["code"] for row in rows for said in row["trail"]}

    def freeze(self) -> None:
        """Stop it in its tracks, as a machine that swaps does."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)

    async def kill(self) -> None:
        """End it with no chance to tidy up."""
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> None:
        """Ask it to end."""
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGCONT)
            self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), 15)
            except TimeoutError:
                await self.kill()
                raise AssertionError(f"it did not end:\n{self.tail()}") from None

    def tail(self, lines: int = 60) -> str:
        """Give the end of what it logged."""
        return _end_of(self.log, lines)


async def pin(daemon: Daemon, replicas: int) -> None:
    """Want so many replicas of the model in service, whatever the load says."""
    wanted = {"verb": "pin", "replicas": replicas}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{daemon.url}/api/v1/overrides/chat", json=wanted) as answer,
    ):
        answer.raise_for_status()


@asynccontextmanager
async def serving(
    folder: Path, fleet: str, kubeconfig: Path, namespace: str, *options: str
) -> AsyncIterator[Daemon]:
    """Run a daemon until the block ends; its store and its log lie in the folder."""
    log = _prepared(folder, fleet)
    command = [
        *(sys.executable, "-m", "controlplane", "serve", "--port", "0"),
        *("--kubeconfig", str(kubeconfig), "--namespace", namespace),
        *("--config", str(folder / "fleet.yaml")),
        *(() if "--data" in options else ("--data", str(folder / "store"))),
        *options,
    ]
    with log.open("ab") as written:
        before = written.tell()  # of one that ran here before
        process = await asyncio.create_subprocess_exec(
            *command, stdout=written, stderr=written, env=os.environ
        )
    daemon = Daemon(process, "", log)
    try:
        daemon.url = await _address(process, log, before)
        yield daemon
    finally:
        await daemon.stop()


def _prepared(folder: Path, fleet: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "fleet.yaml").write_text(fleet)
    return folder / "log"


def _end_of(log: Path, lines: int = 60) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def _since(log: Path, before: int) -> str:
    return log.read_bytes()[before:].decode(errors="replace")


async def _address(process: asyncio.subprocess.Process, log: Path, before: int) -> str:
    said: list[str] = []

    async def up() -> bool:
        said[:] = _UP.findall(_since(log, before))
        return bool(said) or process.returncode is not None

    await until(up, _STARTS_S, lambda: f"it did not start:\n{_end_of(log)}")
    if process.returncode is not None:
        raise AssertionError(f"it ended at once:\n{_end_of(log)}")
    return said[-1]
