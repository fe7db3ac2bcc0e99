"""What may be sent to a peer, and when: its windows, and who waits for them (RFC 9113, 5.2)."""

from collections.abc import Callable, Iterable

from controlplane.gateway.http2.blocks import ALL, BEGIN, END
from controlplane.gateway.http2.frames import (
    END_HEADERS,
    END_STREAM,
    LARGEST_WINDOW,
    BrokenError,
    ErrorCode,
    Kind,
    frame,
    reset,
)
from controlplane.gateway.http2.stream import Stream

FIRST_WINDOW = 65_535  # before a peer says anything else
FIRST_LONGEST = 16_384


class Outflow:
    """Sends what the windows allow; the rest waits until they open."""

    def __init__(self, emit: Callable[[bytes], None], gone: Callable[[Stream], None]) -> None:
        """Know how bytes go out, and who hears that a stream is over on our side."""
        self._emit, self._gone = emit, gone
        self.window = FIRST_WINDOW  # the connection's
        self.initial = FIRST_WINDOW  # each stream's, before its own credit
        self.longest = FIRST_LONGEST  # bytes of a frame
        self._waiting: dict[Stream, None] = {}

    def pump(self, stream: Stream) -> None:
        """Send as much of a stream as may be sent."""
        out = self._begin(stream)
        while stream.unsent:
            room = min(self.window, self.initial + stream.credit, self.longest)
            if room <= 0:
                self._waiting[stream] = None
                self._emit(out)
                return
            piece = bytes(stream.unsent[:room])
            del stream.unsent[:room]
            self.window -= len(piece)
            stream.credit -= len(piece)
            out += frame(Kind.DATA, 0, stream.number, piece)
        self._waiting.pop(stream, None)
        if stream.status is None:
            self._emit(out)
            return
        block = END[stream.status] if stream.begun else ALL[stream.status]
        out += frame(Kind.HEADERS, END_STREAM | END_HEADERS, stream.number, block)
        if not stream.half_closed:  # whatever the client still wants to say, nobody listens
            out += reset(stream.number, ErrorCode.NO_ERROR)
        self._emit(out)
        self._gone(stream)

    def _begin(self, stream: Stream) -> bytes:
        if stream.begun or not stream.unsent:
            return b""
        stream.begun = True
        return frame(Kind.HEADERS, END_HEADERS, stream.number, BEGIN)

    def forget(self, stream: Stream) -> None:
        """Send no more of a stream."""
        self._waiting.pop(stream, None)

    def open(self, more: int) -> None:
        """Widen the connection's window; raises BrokenError where it grows beyond all bounds."""
        if not more:
            raise BrokenError(ErrorCode.PROTOCOL_ERROR, "a window opened by nothing")
        self.window += more
        if self.window > LARGEST_WINDOW:
            raise BrokenError(ErrorCode.FLOW_CONTROL_ERROR, "the connection's window is too large")
        self.resume()

    def widen(self, stream: Stream, more: int) -> ErrorCode | None:
        """Widen a stream's window; say what is wrong where it cannot be."""
        if not more:
            return ErrorCode.PROTOCOL_ERROR
        stream.credit += more
        if self.initial + stream.credit > LARGEST_WINDOW:
            return ErrorCode.FLOW_CONTROL_ERROR
        if stream in self._waiting:
            self.pump(stream)
        return None

    def begin_with(self, initial: int, streams: Iterable[Stream]) -> None:
        """Take another initial window, for the streams there are, too.

        Raises BrokenError where one of theirs grows beyond all bounds.
        """
        self.initial = initial
        if any(initial + stream.credit > LARGEST_WINDOW for stream in streams):
            raise BrokenError(ErrorCode.FLOW_CONTROL_ERROR, "a stream's window is too large")

    def resume(self) -> None:
        """Send what the windows allow now."""
        for stream in list(self._waiting):
            if self.window <= 0:
                return
            self.pump(stream)
