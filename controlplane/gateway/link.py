"""One line from a gateway to one daemon: kept open, and opened again when it breaks.

What is counted is said as since this line began: a daemon adds up lines, so that nothing is counted
twice whoever restarts. What happened while no line was open is nobody's arrival rate.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NoReturn

import aiohttp
import msgspec
import structlog

from controlplane.gateway.counts import Counts, Tallies
from controlplane.gateway.joining import Joining, Orders, Report
from controlplane.gateway.messages import Counted
from controlplane.gateway.tally import ClassTally
from controlplane.ports.gateways import LONGEST, PATH, SILENT_S

AGAIN_S, REFUSED_S = 0.5, 5.0  # before trying again
CONNECT_S, SEND_S = 5.0, 5.0
MOST_PENDING = 1000  # news for a daemon that does not listen; older ones are nobody's any more
DECODE = msgspec.json.Decoder(Orders).decode

log = structlog.stdlib.get_logger(__name__)


class Link:
    """A line to the daemon at one address."""

    def __init__(
        self,
        address: str,
        headers: Callable[[], Mapping[str, str]],
        who: Callable[[], Joining],
        counts: Callable[[], Counts | None],
        ordered: Callable[[], None],
    ) -> None:
        """Join `address` (http://HOST:PORT) as `who`; `ordered` hears of each message."""
        self.address = address
        self._headers, self._who, self._counts, self._ordered = headers, who, counts, ordered
        self.orders: Orders | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._pending: deque[Report] = deque(maxlen=MOST_PENDING)
        self._base: Tallies = {}
        self._unplaced: dict[str, int] = {}
        self._told: Tallies = {}
        self._trouble = ""

    @property
    def open(self) -> bool:
        """Say whether the daemon listens."""
        return self._socket is not None and not self._socket.closed

    async def run(self) -> NoReturn:
        """Be joined, for ever."""
        limit = aiohttp.ClientTimeout(total=None, connect=CONNECT_S)
        async with aiohttp.ClientSession(timeout=limit) as session:
            while True:
                pause = AGAIN_S
                try:
                    await self._joined(session)
                    self._note("it closed the line")
                except aiohttp.WSServerHandshakeError as cause:
                    pause = REFUSED_S
                    self._note(f"it refuses us with {cause.status}: {cause.message}")
                except (aiohttp.ClientError, OSError, TimeoutError) as cause:
                    self._note(str(cause) or type(cause).__name__)
                except msgspec.MsgspecError as cause:
                    pause = REFUSED_S
                    self._note(f"it speaks otherwise; are both of one version? {cause}")
                self._ordered()
                await asyncio.sleep(pause)

    async def _joined(self, session: aiohttp.ClientSession) -> None:
        """Hear the daemon from here to the end of the line."""
        joining = session.ws_connect(
            f"{self.address}{PATH}",
            headers=self._headers(),
            heartbeat=SILENT_S,
            max_msg_size=LONGEST,
        )
        async with joining as socket:
            self._begin()
            await socket.send_bytes(msgspec.json.encode(self._who()))
            self._socket = socket
            self._note("")
            try:
                async for said in socket:
                    if said.type is aiohttp.WSMsgType.BINARY:
                        self.orders = DECODE(said.data)
                        self._ordered()
            finally:
                self._socket = None

    def _begin(self) -> None:
        counts = self._counts()
        self._pending.clear()
        self.orders = None  # it may be another daemon at the same address by now
        self._told = {}
        self._base = {} if counts is None else counts.sums()
        self._unplaced = {} if counts is None else counts.unplaced

    def tell(self, report: Report) -> None:
        """Have something said with the next report."""
        if self.open:
            self._pending.append(report)

    async def report(self, counts: Counts) -> None:
        """Say what was counted since the last time, then what is pending."""
        socket, pending = self._socket, list(self._pending)
        self._pending.clear()
        if socket is None:
            return
        with suppress(OSError, aiohttp.ClientError):
            try:
                async with asyncio.timeout(SEND_S):
                    for one in (self._counted(counts), *pending):
                        await socket.send_bytes(msgspec.json.encode(one))
            except TimeoutError:
                await socket.close()

    async def close(self) -> None:
        """Say what is pending, and end the line."""
        counts = self._counts()
        if counts is not None:
            await self.report(counts)
        if self._socket is not None:
            with suppress(OSError, aiohttp.ClientError, TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._socket.close()

    def _counted(self, counts: Counts) -> Counted:
        sums, told = counts.sums(), self._told
        moved = {name: tallies for name, tallies in sums.items() if told.get(name) != tallies}
        self._told = sums
        before = self._unplaced
        return Counted(
            models={name: since(tallies, self._base.get(name)) for name, tallies in moved.items()},
            unplaced={code: n - before.get(code, 0) for code, n in counts.unplaced.items()},
            degraded=counts.degraded,
            shared_s=counts.shared_s,
        )

    def _note(self, trouble: str) -> None:
        """Say once what is wrong, and once that it is not any more."""
        if trouble != self._trouble:
            log.info("daemon", address=self.address, trouble=trouble or "none: it is joined")
        self._trouble = trouble


def since(tallies: list[ClassTally], base: list[ClassTally] | None) -> list[ClassTally]:
    """Give what was counted of a model since a line began."""
    if base is None:
        return tallies
    return [now.since(before) for now, before in zip(tallies, base, strict=True)]
