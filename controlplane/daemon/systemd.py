"""Tells systemd how the daemon is: up, stopping, alive (the protocol of sd_notify).

The watchdog's beat is no timer of its own. It is sent only while every loop has been heard within
its limit, so a daemon that answers requests and decides nothing is restarted; and it is sent from
the event loop, so one that hangs sends none.
"""

import asyncio
import os
import socket
from collections.abc import MutableMapping
from contextlib import suppress
from typing import NoReturn

import structlog

from controlplane.telemetry.heartbeats import Heartbeats

BEATS_PER_LIMIT = 3  # one lost datagram must not restart the daemon
STATUS_EVERY_S = 10.0  # where nobody set a watchdog

log = structlog.stdlib.get_logger(__name__)


class Systemd:
    """The socket that systemd gave, or none: then nothing is said."""

    def __init__(self, address: str = "", watchdog_s: float | None = None) -> None:
        """Speak to this address; beat often enough for a watchdog of so many seconds."""
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._watchdog_s = watchdog_s
        self._status = ""

    def ready(self, status: str) -> None:
        """Say that the daemon is up."""
        self._say("READY=1", f"STATUS={status}")

    def stopping(self) -> None:
        """Say that it is about to end, and was told to."""
        self._say("STOPPING=1", "STATUS=stopping")

    async def beat(self, heartbeats: Heartbeats) -> NoReturn:
        """Beat while all loops do; else say which are silent, and let the watchdog run out."""
        every_s = self._watchdog_s / BEATS_PER_LIMIT if self._watchdog_s else STATUS_EVERY_S
        while True:
            await asyncio.sleep(every_s)
            silent = heartbeats.silent(asyncio.get_running_loop().time())
            if heartbeats.beats and not silent:
                self._say("WATCHDOG=1")
            self._tell(f"silent: {', '.join(silent)}" if silent else "all loops run")

    def _tell(self, status: str) -> None:
        if status != self._status:
            self._status = status
            self._say(f"STATUS={status}")

    def _say(self, *lines: str) -> None:
        if not self._address:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as to:
            try:
                to.setblocking(False)  # whoever does not listen must not hold up the loops
                to.sendto("\n".join(lines).encode(), self._address)
            except OSError as cause:
                log.warning("systemd was not told", cause=str(cause), said=lines[0])


def systemd(environment: MutableMapping[str, str], process: int) -> Systemd:
    """Give the one that started this process; its variables are taken, for no child to speak."""
    address = environment.pop("NOTIFY_SOCKET", "")
    limit = environment.pop("WATCHDOG_USEC", "")
    meant = environment.pop("WATCHDOG_PID", "")
    watchdog_s = None
    with suppress(ValueError):
        watchdog_s = int(limit) / 1e6 or None
    return Systemd(address, watchdog_s if meant in ("", str(process)) else None)


def here() -> Systemd:
    """Give the one that started this process."""
    return systemd(os.environ, os.getpid())
