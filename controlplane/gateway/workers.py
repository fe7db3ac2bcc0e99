"""The admission workers, seen from the daemon: started, told, heard, started again."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import msgspec
import structlog

from controlplane.gateway.messages import Close, Command, Event, Open, Ready, Sync, Synced, line

PAUSE_S = 0.2
READY_WITHIN_S = 20.0
OBEYED_WITHIN_S = 2.0
LONGEST_LINE = 1 << 28

log = structlog.stdlib.get_logger(__name__)


class Crew:
    """All workers of one gateway."""

    def __init__(
        self,
        module: str,
        openings: Sequence[Open],
        heard: Callable[[int, Event], None],
        lost: Callable[[int], Awaitable[None]],
    ) -> None:
        """Know how each is opened, who hears their events, and whom to ask before a new one."""
        self._module = module
        self._openings, self._heard, self._lost = openings, heard, lost
        self._processes: list[asyncio.subprocess.Process | None] = [None] * len(openings)
        self._standing: dict[type[Command], Command] = {}  # what a new worker must know
        self._ready = [asyncio.Event() for _ in openings]
        self._synced = [0] * len(openings)  # the last number each has said
        self._syncs, self._said = 0, asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._ending = False

    async def start(self) -> None:
        """Start all, and wait until they serve."""
        self._tasks = [
            asyncio.create_task(self._keep(n), name=f"worker {n}")
            for n in range(len(self._openings))
        ]
        async with asyncio.timeout(READY_WITHIN_S):
            await asyncio.gather(*(ready.wait() for ready in self._ready))

    def tell(self, command: Command, *, only: int | None = None) -> None:
        """Tell every worker, and those that come later; or tell one, once."""
        if only is None:
            self._standing[type(command)] = command
        written = line(command)
        for n, process in enumerate(self._processes):
            if process is not None and process.stdin is not None and only in (None, n):
                process.stdin.write(written)

    async def obeyed(self) -> None:
        """Wait until all that serve have done what they were told; nobody waits for a slow one."""
        self._syncs = number = self._syncs + 1
        asked = [n for n, ready in enumerate(self._ready) if ready.is_set()]
        for n in asked:
            self.tell(Sync(number), only=n)
        with suppress(TimeoutError):
            async with asyncio.timeout(OBEYED_WITHIN_S):
                while any(self._synced[n] < number and self._ready[n].is_set() for n in asked):
                    self._said.clear()
                    await self._said.wait()

    @property
    def ready(self) -> bool:
        """Say whether all of them serve."""
        return all(ready.is_set() for ready in self._ready)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._openings)

    @property
    def pids(self) -> list[int]:
        """Their process ids."""
        return [p.pid for p in self._processes if p is not None and p.returncode is None]

    async def end(self, grace_s: float) -> None:
        """Let running and queued requests finish, then end."""
        self._ending = True
        self.tell(Close(grace_s))
        running = [p for p in self._processes if p is not None]
        try:
            async with asyncio.timeout(grace_s + 3.0):
                await asyncio.gather(*(process.wait() for process in running))
        except TimeoutError:
            for process in running:
                if process.returncode is None:
                    process.kill()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _keep(self, n: int) -> None:
        """Run a worker, and another one whenever it ends."""
        while True:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", self._module),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LONGEST_LINE,
            )
            try:
                await self._serve(n, process)
            finally:
                self._processes[n] = None
                if process.returncode is None:
                    process.kill()
                    await process.wait()
            if self._ending:
                return
            self._ready[n].clear()
            self._said.set()
            log.warning("admission worker has ended; another is started", code=process.returncode)
            await asyncio.sleep(PAUSE_S)
            await self._lost(n)

    async def _serve(self, n: int, process: asyncio.subprocess.Process) -> None:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a worker has no pipes")
        process.stdin.write(line(self._openings[n]))
        for command in self._standing.values():
            process.stdin.write(line(command))
        self._processes[n] = process
        decode = msgspec.json.Decoder(Event).decode
        while said := await process.stdout.readline():
            event = decode(said)
            if isinstance(event, Ready):
                self._ready[n].set()
            if isinstance(event, Synced):
                self._synced[n] = event.number
                self._said.set()
            self._heard(n, event)
        await process.wait()
