"""One call: what its client sends reaches a receiver, and what we answer goes out in order."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

import structlog

from controlplane.gateway.http2.blocks import Status
from controlplane.gateway.http2.framing import Messages, RefusedError, prefixed

if TYPE_CHECKING:
    from controlplane.gateway.http2.outflow import Outflow

log = structlog.stdlib.get_logger(__name__)


class Receiver(Protocol):
    """Whoever serves a call. It hears nothing after `lost`, or once it has finished the call."""

    def message(self, message: bytes) -> None:
        """Hear what the client says."""
        ...

    def closed(self) -> None:
        """The client has said everything; it still listens."""
        ...

    def lost(self) -> None:
        """The call is over without our doing: reset, or its connection is gone."""
        ...


class Stream:
    """One call of one client."""

    __slots__ = (
        "_messages",
        "_outflow",
        "_receiver",
        "begun",
        "credit",
        "half_closed",
        "number",
        "status",
        "taken",
        "unsent",
    )

    def __init__(self, number: int, outflow: "Outflow") -> None:
        """Begin; nobody serves it yet."""
        self.number = number
        self._outflow = outflow
        self._receiver: Receiver | None = None
        self._messages = Messages()
        self.half_closed = False  # the client has said everything
        self.begun = False  # our headers are out
        self.status: Status | None = None  # how it ended, once it has on our side
        self.unsent = bytearray()
        self.credit = 0  # bytes we may send beyond the peer's initial window; below 0 once sent
        self.taken = 0  # bytes of its window the client has used

    def serve(self, served: "Served") -> None:
        """Let somebody serve it."""
        self._receiver = served(self)

    def send(self, message: bytes) -> None:
        """Answer; a call that is over answers nobody."""
        if self._receiver is not None:
            self.unsent += prefixed(message)
            self._outflow.pump(self)

    def finish(self, message: bytes | None = None) -> None:
        """Answer for the last time."""
        if self._receiver is not None:
            self._receiver = None
            if message is not None:
                self.unsent += prefixed(message)
            self.refuse(Status.OK)

    def refuse(self, status: Status) -> None:
        """End a call that nobody serves, or no longer."""
        if self.status is None:
            self.status = status
            self._outflow.pump(self)

    def take(self, data: bytes) -> None:
        """Pass on what the client sent."""
        if self._receiver is None:
            return
        try:
            messages = self._messages.take(data)
        except RefusedError as refused:
            self._fail(refused.status)
            return
        for message in messages:
            if self._receiver is not None:
                self.guard(self._receiver.message, message)

    def close(self) -> None:
        """The client has said everything."""
        if self._messages.cut_off:
            self._fail(Status.INTERNAL)
        elif self._receiver is not None:
            self.guard(self._receiver.closed)

    def lose(self) -> None:
        """The call is over without our doing."""
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            try:
                receiver.lost()
            except Exception:
                log.exception("a call that was lost could not be cleared away")

    def guard(self, work: Callable[..., None], *given: bytes) -> None:
        """Let the receiver work; whatever goes wrong ends this call and no other."""
        try:
            work(*given)
        except Exception:
            log.exception("a call failed")
            self._fail(Status.UNKNOWN)

    def _fail(self, status: Status) -> None:
        self.lose()
        self.refuse(status)


Served: TypeAlias = Callable[[Stream], Receiver]
