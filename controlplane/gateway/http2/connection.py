"""One peer's connection, without any I/O: bytes in, calls and bytes out (RFC 9113).

What breaks the connection's rules ends it, with the code the RFC names, and all its calls with it.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from controlplane.gateway.http2.blocks import LONGEST_LIST
from controlplane.gateway.http2.frames import (
    ACK,
    LARGEST_WINDOW,
    LAST_STREAM,
    BrokenError,
    ErrorCode,
    Kind,
    Setting,
    Splitter,
    frame,
    go_away,
    read_settings,
    settings,
    window_update,
)
from controlplane.gateway.http2.outflow import FIRST_WINDOW
from controlplane.gateway.http2.stream import Served
from controlplane.gateway.http2.streams import STREAM_WINDOW, Streams

MOST_STREAMS = 100_000  # a peer that has more opens another connection
WINDOW = 1 << 24  # bytes, of all streams together
FRAME_SIZES = range(1 << 14, 1 << 24)
DRAINING = b"draining"


class Wire(Protocol):
    """Where bytes go out."""

    def write(self, data: bytes) -> None:
        """Send."""
        ...

    def close(self) -> None:
        """Send what was written, and no more."""
        ...


class Connection:
    """Serves one peer."""

    def __init__(
        self, methods: Mapping[str, Served], wire: Wire, most_streams: int = MOST_STREAMS
    ) -> None:
        """Serve these methods, by path."""
        self._wire, self._most = wire, most_streams
        self._splitter = Splitter()
        self._streams = streams = Streams(methods, self._emit, self._leave, most_streams)
        self._taken = 0  # bytes of our window the peer has used
        self._settled = False  # its settings have come
        self._leaving = False  # nothing new comes: it ends with its last call
        self._out: list[bytes] | None = None  # while receiving: all answers go out at once
        self.over = False
        self._on: tuple[Callable[[int, int, bytes], None], ...] = (
            self._data,
            streams.headers,
            streams.priority,
            streams.reset,
            self._settings,
            self._promise,
            self._ping,
            self._away,
            self._window,
            streams.continuation,
        )  # by their kinds

    def greet(self) -> None:
        """Say what we are."""
        ours = {
            Setting.MAX_CONCURRENT_STREAMS: self._most,
            Setting.INITIAL_WINDOW_SIZE: STREAM_WINDOW,
            Setting.MAX_HEADER_LIST_SIZE: LONGEST_LIST,
        }
        self._emit(settings(ours) + window_update(0, WINDOW - FIRST_WINDOW))

    def receive(self, data: bytes) -> None:
        """Take what the peer sent."""
        if self.over:
            return
        self._out = []
        try:
            for kind, flags, number, payload in self._splitter.frames(data):
                self._take(kind, flags, number, payload)
            self._streams.settle()
        except BrokenError as broken:
            self._emit(go_away(self._streams.last, broken.code, str(broken)))
            self.over = True
        out, self._out = self._out, None
        if out:
            self._wire.write(b"".join(out))
        if self.over:
            self._streams.lose()
            self._wire.close()

    def lost(self) -> None:
        """The peer is gone."""
        self.over = True
        self._streams.lose()

    def drain(self) -> None:
        """Take nothing new as soon as the peer knows; end with the last call."""
        warned = go_away(LAST_STREAM, ErrorCode.NO_ERROR)
        self._emit(warned + frame(Kind.PING, 0, 0, DRAINING))

    def _take(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        if self._streams.interrupted and kind != Kind.CONTINUATION:
            raise BrokenError(ErrorCode.PROTOCOL_ERROR, "a header block is interrupted")
        if not self._settled and (kind != Kind.SETTINGS or flags & ACK):
            raise BrokenError(ErrorCode.PROTOCOL_ERROR, "settings come first")
        if kind < len(self._on) and not self.over:
            self._on[kind](flags, number, payload)

    def _emit(self, data: bytes) -> None:
        if self.over or not data:
            return
        if self._out is None:
            self._wire.write(data)
        else:
            self._out.append(data)

    def _leave(self) -> None:
        """End where nothing is left to be done; while receiving, right after that."""
        if self._leaving and not len(self._streams) and not self.over:
            self.over = True
            if self._out is None:
                self._wire.close()

    def _data(self, flags: int, number: int, payload: bytes) -> None:
        self._taken += len(payload)
        if self._taken >= WINDOW // 2:  # what has come has been taken; nothing lies about
            self._emit(window_update(0, self._taken))
            self._taken = 0
        self._streams.data(flags, number, payload)

    def _settings(self, flags: int, number: int, payload: bytes) -> None:
        _for_all(number)
        if flags & ACK:
            _sized(payload, 0)
            return
        self._settled = True
        for name, value in read_settings(payload):
            self._set(name, value)
        self._emit(frame(Kind.SETTINGS, ACK, 0))
        self._streams.outflow.resume()  # not before the peer knows that we know

    def _set(self, name: int, value: int) -> None:
        if name == Setting.INITIAL_WINDOW_SIZE:
            if value > LARGEST_WINDOW:
                raise BrokenError(ErrorCode.FLOW_CONTROL_ERROR, "a window too large")
            self._streams.window(value)
        elif name == Setting.MAX_FRAME_SIZE:
            if value not in FRAME_SIZES:
                raise BrokenError(ErrorCode.PROTOCOL_ERROR, "no size of a frame")
            self._streams.outflow.longest = value
        elif name == Setting.ENABLE_PUSH and value > 1:
            raise BrokenError(ErrorCode.PROTOCOL_ERROR, "push is on or off")

    def _promise(self, _flags: int, _number: int, _payload: bytes) -> None:
        raise BrokenError(ErrorCode.PROTOCOL_ERROR, "a client promises nothing")

    def _ping(self, flags: int, number: int, payload: bytes) -> None:
        _for_all(number)
        _sized(payload, 8)
        if not flags & ACK:
            self._emit(frame(Kind.PING, ACK, 0, payload))
        elif payload == DRAINING:  # the peer knows; what it had opened before has come
            self._emit(go_away(self._streams.end(), ErrorCode.NO_ERROR))
            self._leaving = True
            self._leave()

    def _away(self, _flags: int, number: int, _payload: bytes) -> None:
        """Expect nothing new."""
        _for_all(number)
        self._leaving = True
        self._leave()

    def _window(self, _flags: int, number: int, payload: bytes) -> None:
        _sized(payload, 4)
        more = int.from_bytes(payload, "big") & LARGEST_WINDOW
        if number:
            self._streams.widen(number, more)
        else:
            self._streams.outflow.open(more)


def _for_all(number: int) -> None:
    if number:
        raise BrokenError(ErrorCode.PROTOCOL_ERROR, "of the connection, not of a stream")


def _sized(payload: bytes, size: int) -> None:
    if len(payload) != size:
        raise BrokenError(ErrorCode.FRAME_SIZE_ERROR, f"{len(payload)} bytes, not {size}")
