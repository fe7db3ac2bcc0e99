"""A process that we started, its log, and its end by process id."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path


class Child:
    """One program of the control plane; it can be stopped and started again."""

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self._command = command
        self._log = log
        self._environment = {**os.environ, **(environment or {})}
        self._process: asyncio.subprocess.Process | None = None

    @property
    def name(self) -> str:
        return Path(self._command[0]).name

    @property
    def started(self) -> bool:
        return self._process is not None

    async def start(self) -> None:
        with self._log.open("ab") as log:
            # A session of its own: Ctrl-C is for the tests, and we stop the plane in order.
            self._process = await asyncio.create_subprocess_exec(
                *self._command, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
                env=self._environment, start_new_session=True,
            )  # fmt: skip

    async def stop(self, grace_s: float = 5.0) -> None:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), grace_s)
        except TimeoutError:
            process.kill()
            await process.wait()

    def check(self) -> None:
        """Raise when it has ended by itself, with the last it said."""
        if self._process is None or self._process.returncode is not None:
            code = None if self._process is None else self._process.returncode
            said = self._log.read_text(errors="replace")[-1500:] if self._log.exists() else ""
            raise RuntimeError(f"{self.name} ended with {code}: {said}")
