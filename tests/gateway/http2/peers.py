"""An independent client (the h2 library) face to face with our connection, in memory."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    ResponseReceived,
    StreamReset,
    TrailersReceived,
)
from h2.settings import SettingCodes

from controlplane.gateway.http2.connection import Connection
from controlplane.gateway.http2.frames import LONGEST
from controlplane.gateway.http2.framing import prefixed
from controlplane.gateway.http2.stream import Served, Stream

ECHO = "/test.Test/Echo"
ASKED = (
    (":method", "POST"),
    (":scheme", "http"),
    (":path", ECHO),
    (":authority", "test"),
    ("te", "trailers"),
    ("content-type", "application/grpc"),
)


class Echo:
    """Says what it hears, and notes how it ended."""

    def __init__(self, stream: Stream, ends: list[str]) -> None:
        self.stream, self.ends = stream, ends
        self.heard: list[bytes] = []

    def message(self, message: bytes) -> None:
        self.heard.append(message)
        if message == b"break":
            raise RuntimeError("broken on purpose")
        if message == b"enough":
            self.ends.append("finished")
            self.stream.finish(message)
        elif message != b"hold":
            self.stream.send(message)

    def closed(self) -> None:
        self.ends.append("closed")
        self.stream.finish()

    def lost(self) -> None:
        self.ends.append("lost")


class Echoes:
    """Serves, and remembers whom."""

    def __init__(self) -> None:
        self.calls: list[Echo] = []
        self.ends: list[str] = []

    def __call__(self, stream: Stream) -> Echo:
        self.calls.append(Echo(stream, self.ends))
        return self.calls[-1]


class Written:
    """Keeps what our side writes."""

    def __init__(self) -> None:
        self.bytes = bytearray()
        self.closed = False

    def write(self, data: bytes) -> None:
        assert not self.closed
        self.bytes += data

    def close(self) -> None:
        self.closed = True

    def taken(self) -> bytes:
        taken, self.bytes = bytes(self.bytes), bytearray()
        return taken


class Facing:
    """The two of them; `exchange` carries bytes to and fro until both are silent."""

    def __init__(self, served: Served, *, most_streams: int = 100, window: int = 65_535) -> None:
        self.wire = Written()
        self.server = Connection({ECHO: served}, self.wire, most_streams)
        self.client = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self.events: list[Event] = []
        self.server.greet()
        self.client.initiate_connection()
        self.client.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.exchange()

    def ask(self, *messages: bytes, end: bool = True, path: str = ECHO, **more: str) -> int:
        """Open a call."""
        number: int = self.client.get_next_available_stream_id()
        headers = [(n, path if n == ":path" else v) for n, v in ASKED]
        self.client.send_headers(number, [*headers, *more.items()], end_stream=False)
        for message in messages:
            sent = prefixed(message)
            for at in range(0, len(sent), LONGEST):
                self.client.send_data(number, sent[at : at + LONGEST])
        if end:
            self.client.end_stream(number)
        return number

    def exchange(self, cut: Callable[[bytes], Iterable[bytes]] = lambda data: [data]) -> None:
        while True:
            said = self.client.data_to_send()
            for piece in cut(said) if said else ():
                self.server.receive(piece)
            back = self.wire.taken()
            if not said and not back:
                return
            if back:
                self.events += self.client.receive_data(back)

    def of(self, kind: type[Any], number: int | None = None) -> list[Any]:
        return [
            e
            for e in self.events
            if isinstance(e, kind) and number in (None, getattr(e, "stream_id", None))
        ]

    def data(self, number: int) -> bytes:
        return b"".join(e.data for e in self.of(DataReceived, number))

    def status(self, number: int) -> str | None:
        """grpc-status, wherever it came."""
        for event in (*self.of(TrailersReceived, number), *self.of(ResponseReceived, number)):
            found = dict(event.headers).get("grpc-status")
            if found is not None:
                return str(found)
        return None

    def resets(self, number: int) -> list[int]:
        return [int(e.error_code) for e in self.of(StreamReset, number)]

    def ended(self) -> Sequence[int]:
        return [int(e.error_code) for e in self.of(ConnectionTerminated)]
