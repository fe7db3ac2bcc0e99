"""One container as a real process: started, probed, restarted, stopped with grace."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from controlplane.clock import stopwatch, wall
from tests.cluster.api import Manifest
from tests.cluster.kubelet.moments import stamp
from tests.cluster.kubelet.probes import Target, asked, probing

_LEAST_GRACE_S = 2.0  # what a kubelet leaves after a preStop that took it all
_FIRST_BACKOFF_S, _LAST_BACKOFF_S = 1.0, 30.0  # a tenth of the usual
_STEADY_S = 60.0  # a container that ran so long has crashed for the first time


@dataclass(frozen=True)
class Orders:
    """How a container is run by its pod."""

    policy: str  # Always, OnFailure or Never
    fetched: Callable[[str], Awaitable[None]]  # its image, which has to be here
    changed: Callable[[], None]  # called whenever it is otherwise with it


class Container:
    """What is to run, and how it is with it."""

    def __init__(
        self, spec: Manifest, words: Sequence[str], target: Target, log: Path, orders: Orders
    ) -> None:
        self.spec = spec
        self.state: Manifest = {"waiting": {"reason": "ContainerCreating"}}
        self.last_state: Manifest = {}
        self.restart_count = 0
        self.started = False
        self.ready = False
        self.frozen = False
        self.done = False  # it ended and is not to be restarted
        self._words = words
        self._target = target
        self._log = log
        self._changed = orders.changed
        self._policy = orders.policy
        self._fetched = orders.fetched
        self._process: asyncio.subprocess.Process | None = None
        self._stopped = asyncio.Event()
        self._reason = ""

    async def run(self) -> int:
        """Run it until it is stopped, or ended for good; gives its last exit code."""
        await self._fetched(self.spec["image"])
        if not self._words:
            return await self._never_here()
        wait_s = 0.0
        while not self._stopped.is_set():
            began = stopwatch()
            code = await self._once()
            if self._stopped.is_set() or not self._again(code):
                self.done = True
                self._changed()
                return code
            wait_s = 0.0 if stopwatch() - began > _STEADY_S else wait_s
            if wait_s:
                self._wait_reason(wait_s)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopped.wait(), wait_s)
            wait_s = min(max(2 * wait_s, _FIRST_BACKOFF_S), _LAST_BACKOFF_S)
            self.restart_count += 1
        return 128

    async def _never_here(self) -> int:
        """Stay without an image: none is to be had here, so a container has to name its command."""
        self.state = {
            "waiting": {
                "reason": "ImagePullBackOff",
                "message": f"Back-off pulling image {self.spec['image']}: it names no command",
            }
        }
        self._changed()
        await self._stopped.wait()
        return 128

    def _again(self, code: int) -> bool:
        return self._policy == "Always" or (self._policy == "OnFailure" and code != 0)

    def _wait_reason(self, wait_s: float) -> None:
        self.last_state = self.state
        self.state = {
            "waiting": {
                "reason": "CrashLoopBackOff",
                "message": f"back-off {wait_s:g}s restarting failed container",
            }
        }
        self._changed()

    async def _once(self) -> int:
        began = wall()
        try:
            with self._log.open("ab") as log:
                self._process = await asyncio.create_subprocess_exec(
                    *self._words, env=dict(self._target.environment), cwd="/",
                    stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
                    start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            self._ended(128, began, "StartError", str(error))
            return 128
        self._target.pid = self._process.pid
        if self._stopped.is_set():  # told while it was being started
            self.kill()
        if "terminated" in self.state:
            self.last_state = self.state
        self.state = {"running": {"startedAt": stamp(began)}}
        self.started = "startupProbe" not in self.spec
        self.ready = self.started and "readinessProbe" not in self.spec
        self._changed()
        watching = asyncio.create_task(self._watch_over())
        code = await self._process.wait()
        watching.cancel()
        await asyncio.wait([watching])
        self._signal(signal.SIGKILL)  # what it left behind
        code = 128 - code if code < 0 else code
        self._ended(code, began, self._reason or ("Error" if code else "Completed"), "")
        return code

    def _ended(self, code: int, began: float, reason: str, message: str) -> None:
        self._process, self._reason, self._target.pid = None, "", None
        self.started = self.ready = False
        self.state = {
            "terminated": {
                "exitCode": code, "reason": reason, "message": message,
                "startedAt": stamp(began), "finishedAt": stamp(wall()),
            }
        }  # fmt: skip
        self._changed()

    async def _watch_over(self) -> None:
        """Probe: first until it has started, then whether it is ready and alive."""
        hook = self.spec.get("lifecycle", {}).get("postStart")
        if hook:
            await asked(hook, self._target, 30.0)
        if not self.started:
            await self._start_up()
        if "readinessProbe" not in self.spec:
            self._is_ready(True, "")
        async with asyncio.TaskGroup() as group:
            if "readinessProbe" in self.spec:
                group.create_task(
                    probing(self.spec["readinessProbe"], self._target, self._is_ready)
                )
            if "livenessProbe" in self.spec:
                group.create_task(probing(self.spec["livenessProbe"], self._target, self._is_alive))

    async def _start_up(self) -> None:
        up = asyncio.Event()

        def told(good: bool, wrong: str) -> None:
            if good:
                up.set()
            else:
                self._is_alive(False, wrong)

        probe = asyncio.create_task(probing(self.spec["startupProbe"], self._target, told))
        try:
            await up.wait()
        finally:
            probe.cancel()
        self.started = True
        self._changed()

    def _is_ready(self, good: bool, _: str) -> None:
        if good is not self.ready:
            self.ready = good
            self._changed()

    def _is_alive(self, good: bool, _: str) -> None:
        if good or self._stopped.is_set() or self._process is None:
            return
        later = asyncio.get_running_loop()
        _to_group(self._process.pid, signal.SIGTERM)
        later.call_later(_LEAST_GRACE_S, _to_group, self._process.pid, signal.SIGKILL)

    async def stop(self, grace_s: float) -> None:
        """End it for good: preStop, SIGTERM, and SIGKILL when the grace is over."""
        self._stopped.set()
        process = self._process
        if process is None:
            return
        began = stopwatch()
        hook = self.spec.get("lifecycle", {}).get("preStop")
        if hook and grace_s > 0:
            await asked(hook, self._target, grace_s)
        left = max(grace_s - (stopwatch() - began), _LEAST_GRACE_S if grace_s > 0 else 0.0)
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM if left else signal.SIGKILL)
        try:
            await asyncio.wait_for(process.wait(), left or None)
        except TimeoutError:
            self._signal(signal.SIGKILL)
            await process.wait()

    def out_of_memory(self) -> None:
        """End it as the kernel does when its memory is used up."""
        self._reason = "OOMKilled"
        self._signal(signal.SIGKILL)

    def freeze(self) -> None:
        """Let it answer nothing, as on a machine without power."""
        self.frozen = True
        self._signal(signal.SIGSTOP)

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self.frozen = False
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self._process is not None:
            _to_group(self._process.pid, number)

    def status(self) -> Manifest:
        """Say how it is, in the words of a pod's status."""
        spec = self.spec
        return {
            "name": spec["name"], "image": spec["image"], "imageID": f"process://{spec['image']}",
            "containerID": f"process://{spec['name']}-{self.restart_count}",
            "ready": self.ready, "started": self.started, "restartCount": self.restart_count,
            "state": self.state, "lastState": self.last_state,
        }  # fmt: skip


def _to_group(pid: int, number: int) -> None:
    """Signal a process and its children, which share its session."""
    with suppress(ProcessLookupError):
        os.killpg(pid, number)
