"""The open loop: each request leaves at its own time, and is timed from when it was due.

A closed loop sends the next request when an answer has come, so a server that stalls is asked less
while it stalls, and its worst seconds hardly show (coordinated omission). Here they do: whoever was
due during a stall counts as much of it as was left.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import aiohttp

from controlplane.clock import stopwatch
from controlplane.emulation.load.sending import Sender, Target, reachable
from controlplane.emulation.load.wishes import Wish

BREATH = 32  # requests sent in one go before answers are looked at, where many are due at once


class OpenLoop:
    """One run of a schedule against targets, each of which gets all of it at the same moments."""

    def __init__(self, session: aiohttp.ClientSession, targets: Sequence[Target]) -> None:
        """Nothing is sent yet."""
        self.began: float | None = None
        self.stopped = asyncio.Event()  # set it to end the run early
        self.interrupted = False
        self._session = session
        self._targets = targets
        self.senders = [Sender(session, target, self.now) for target in targets]
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None  # one that is no answer's: ours

    def now(self) -> float:
        """Give the seconds since the start; 0 before."""
        return 0.0 if self.began is None else stopwatch() - self.began

    async def run(self, schedule: Sequence[Wish], drain_s: float) -> None:
        """Send it all, then wait for the answers, for so long; raises OSError at a dead address."""
        await reachable(self._session, self._targets)
        self.began = stopwatch()
        sending = asyncio.create_task(self._send(schedule, drain_s))
        stopping = asyncio.create_task(self.stopped.wait())
        await asyncio.wait((sending, stopping), return_when=asyncio.FIRST_COMPLETED)
        self.interrupted = not sending.done()
        left = {sending, stopping, *self._tasks}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        if self._failure is not None:
            raise self._failure

    async def _send(self, schedule: Sequence[Wish], drain_s: float) -> None:
        for n, wish in enumerate(schedule):
            early = wish.at - self.now()
            if early > 0 or n % BREATH == 0:
                await asyncio.sleep(max(early, 0.0))
            for sender in self.senders:
                task = asyncio.create_task(sender.send(wish))
                self._tasks.add(task)
                task.add_done_callback(self._over)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=drain_s)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (failure := task.exception()) is not None:
            self._failure = failure
            self.stopped.set()


@asynccontextmanager
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    """Open a session without a limit of its own: whoever is due gets a connection."""
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=3.0)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=10.0)
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, auto_decompress=False, trust_env=False
    ) as opened:
        yield opened
