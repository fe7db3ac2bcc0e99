"""The calls of one connection: opened, fed, ended (RFC 9113, 5).

What breaks a stream's rules ends that stream alone. Frames that arrive late for a stream that is
over are passed over; those for one that never was end the connection.
"""

from collections.abc import Callable, Mapping

from controlplane.gateway.http2.blocks import BlockReader, Status, Wanted
from controlplane.gateway.http2.frames import (
    END_HEADERS,
    END_STREAM,
    LAST_STREAM,
    PRIORITISED,
    BrokenError,
    ErrorCode,
    Kind,
    frame,
    reset,
    unpadded,
    window_update,
)
from controlplane.gateway.http2.outflow import Outflow
from controlplane.gateway.http2.stream import Served, Stream

STREAM_WINDOW = 1 << 20  # bytes
LONGEST_BLOCK, MOST_PIECES = 1 << 16, 64  # bytes and frames of one header block
PRIORITY_SIZE = 5


class Streams:
    """Takes what is said about streams."""

    def __init__(
        self,
        methods: Mapping[str, Served],
        emit: Callable[[bytes], None],
        emptied: Callable[[], None],
        most: int,
    ) -> None:
        """Serve these methods, by path; `emptied` is called whenever the last call has ended."""
        self._most = most
        self._methods, self._emit, self._emptied = methods, emit, emptied
        self._blocks = BlockReader()
        self._block: tuple[int, int, list[bytes]] | None = None  # a header block that goes on
        self._open: dict[int, Stream] = {}
        self._closing: list[Stream] = []
        self.outflow = Outflow(emit, self._gone)
        self.last = 0  # the youngest there was
        self._until = LAST_STREAM  # none after this one is served

    def __len__(self) -> int:
        return len(self._open)

    @property
    def interrupted(self) -> bool:
        """Say whether a header block has begun and not ended: nothing else may come between."""
        return self._block is not None

    def end(self) -> int:
        """Serve those there are, and no other; give the last."""
        self._until = self.last
        return self.last

    def settle(self) -> None:
        """Tell of calls whose clients have said everything and still want an answer.

        Called when all that was received has been taken: most were reset meanwhile, and an answer
        that nobody wants would wake Envoy for nothing.
        """
        closing, self._closing = self._closing, []
        for stream in closing:
            if stream.number in self._open:
                stream.close()

    def lose(self) -> None:
        """The peer is gone, and all its calls with it."""
        lost, self._open = self._open, {}
        for stream in lost.values():
            stream.lose()

    def data(self, flags: int, number: int, payload: bytes) -> None:
        """Pass a call's bytes on."""
        stream = self._of(number)
        size = len(payload)
        payload = unpadded(flags, payload)
        if stream is None:
            return
        if stream.half_closed:
            self._end(stream, ErrorCode.STREAM_CLOSED)
            return
        stream.taken += size
        if stream.taken >= STREAM_WINDOW // 2 and not flags & END_STREAM:
            self._emit(window_update(number, stream.taken))
            stream.taken = 0
        if payload:
            stream.take(payload)
        if flags & END_STREAM:
            self._half_close(stream)

    def headers(self, flags: int, number: int, payload: bytes) -> None:
        """Begin a call, or end what its client says."""
        if not number % 2:
            raise BrokenError(ErrorCode.PROTOCOL_ERROR, f"{number} is no client's stream")
        payload = unpadded(flags, payload)
        if flags & PRIORITISED:
            if len(payload) < PRIORITY_SIZE:
                raise BrokenError(ErrorCode.FRAME_SIZE_ERROR, "a priority is five bytes")
            payload = payload[PRIORITY_SIZE:]
        if flags & END_HEADERS:
            self._whole(flags, number, payload)
        else:
            self._block = (flags, number, [payload])

    def continuation(self, flags: int, number: int, payload: bytes) -> None:
        """Take more of a header block."""
        if self._block is None or self._block[1] != number:
            raise BrokenError(ErrorCode.PROTOCOL_ERROR, "nothing is to be continued")
        first, _, pieces = self._block
        pieces.append(payload)
        if len(pieces) > MOST_PIECES or sum(map(len, pieces)) > LONGEST_BLOCK:
            raise BrokenError(ErrorCode.ENHANCE_YOUR_CALM, "headers too long")
        if flags & END_HEADERS:
            self._block = None
            self._whole(first, number, b"".join(pieces))

    def reset(self, _flags: int, number: int, payload: bytes) -> None:
        """End a call as its client wishes."""
        if len(payload) != 4:
            raise BrokenError(ErrorCode.FRAME_SIZE_ERROR, "a reset is four bytes")
        stream = self._of(number)
        if stream is not None:
            self._gone(stream)
            stream.lose()

    def widen(self, number: int, more: int) -> None:
        """Let more of an answer go out."""
        stream = self._of(number)
        if stream is None:
            return
        wrong = self.outflow.widen(stream, more)
        if wrong is not None:
            self._end(stream, wrong)

    def window(self, initial: int) -> None:
        """Take another initial window for all; raises BrokenError where one grows too large."""
        self.outflow.begin_with(initial, self._open.values())

    def priority(self, _flags: int, number: int, payload: bytes) -> None:
        """Whose turn it is we know better."""
        if not number:
            raise BrokenError(ErrorCode.PROTOCOL_ERROR, "the connection has no priority")
        if len(payload) != PRIORITY_SIZE:
            raise BrokenError(ErrorCode.FRAME_SIZE_ERROR, "a priority is five bytes")

    def _of(self, number: int) -> Stream | None:
        """Give a stream that is open, None for one that is over."""
        stream = self._open.get(number)
        if stream is None and (number > self.last or not number % 2):
            raise BrokenError(ErrorCode.PROTOCOL_ERROR, f"stream {number} was never opened")
        return stream

    def _end(self, stream: Stream, code: ErrorCode) -> None:
        """End one for what its client did."""
        self._emit(reset(stream.number, code))
        self._gone(stream)
        stream.lose()

    def _gone(self, stream: Stream) -> None:
        """One is over."""
        self._open.pop(stream.number, None)
        self.outflow.forget(stream)
        if not self._open:
            self._emptied()

    def _half_close(self, stream: Stream) -> None:
        """Its client has said everything; Envoy takes the call back in the same breath."""
        stream.half_closed = True
        self._closing.append(stream)

    def _whole(self, flags: int, number: int, block: bytes) -> None:
        wanted = self._blocks.read(block)  # always: or our table is not the peer's any more
        stream = self._open.get(number)
        if stream is None:
            if number > self.last:
                self.last = number
                self._begin(flags, number, wanted)
        elif stream.half_closed:
            self._end(stream, ErrorCode.STREAM_CLOSED)
        elif not flags & END_STREAM:
            self._end(stream, ErrorCode.PROTOCOL_ERROR)
        else:
            self._half_close(stream)

    def _begin(self, flags: int, number: int, wanted: Wanted) -> None:
        if number > self._until or len(self._open) >= self._most:
            self._emit(reset(number, ErrorCode.REFUSED_STREAM))
            return
        if wanted.path is None:
            self._emit(reset(number, ErrorCode.PROTOCOL_ERROR))
            return
        if wanted.refused is not None:
            self._emit(frame(Kind.HEADERS, END_STREAM | END_HEADERS, number, wanted.refused))
            if not flags & END_STREAM:
                self._emit(reset(number, ErrorCode.NO_ERROR))
            return
        stream = self._open[number] = Stream(number, self.outflow)
        served = self._methods.get(wanted.path)
        if served is None:
            stream.half_closed = bool(flags & END_STREAM)
            stream.refuse(Status.UNIMPLEMENTED)
            return
        stream.serve(served)
        if flags & END_STREAM:
            self._half_close(stream)
