"""Frames as they are on the wire (RFC 9113, 4 to 6)."""

from collections.abc import Iterator
from enum import IntEnum
from struct import Struct, unpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEAD = Struct(">HBBBI")  # length in 16 + 8 bits, kind, flags, stream
HEAD_SIZE = HEAD.size
LONGEST = 16_384  # bytes of a payload we take: the least that must be, and what Envoy sends
LARGEST_WINDOW = 2**31 - 1
LAST_STREAM = 2**31 - 1
END_STREAM, ACK, END_HEADERS, PADDED, PRIORITISED = 0x1, 0x1, 0x4, 0x8, 0x20


class Kind(IntEnum):
    """What a frame is; others are to be ignored."""

    DATA = 0
    HEADERS = 1
    PRIORITY = 2
    RST_STREAM = 3
    SETTINGS = 4
    PUSH_PROMISE = 5
    PING = 6
    GOAWAY = 7
    WINDOW_UPDATE = 8
    CONTINUATION = 9


class ErrorCode(IntEnum):
    """Why a stream or a connection is ended."""

    NO_ERROR = 0
    PROTOCOL_ERROR = 1
    INTERNAL_ERROR = 2
    FLOW_CONTROL_ERROR = 3
    STREAM_CLOSED = 5
    FRAME_SIZE_ERROR = 6
    REFUSED_STREAM = 7
    CANCEL = 8
    COMPRESSION_ERROR = 9
    ENHANCE_YOUR_CALM = 11


class Setting(IntEnum):
    """What one side tells the other about itself."""

    HEADER_TABLE_SIZE = 1
    ENABLE_PUSH = 2
    MAX_CONCURRENT_STREAMS = 3
    INITIAL_WINDOW_SIZE = 4
    MAX_FRAME_SIZE = 5
    MAX_HEADER_LIST_SIZE = 6


class BrokenError(Exception):
    """The peer broke a rule after which nothing it says can be trusted."""

    def __init__(self, code: ErrorCode, why: str) -> None:
        """Say which rule; `why` goes to the peer."""
        super().__init__(why)
        self.code = code


class Splitter:
    """Cuts what was received into frames, however it was split on its way."""

    def __init__(self) -> None:
        """Nothing was received."""
        self._rest = b""
        self._greeted = False

    def frames(self, data: bytes) -> Iterator[tuple[int, int, int, bytes]]:
        """Give kind, flags, stream and payload of each whole frame.

        Raises BrokenError where the preface is another, or a frame too long.
        """
        if self._rest:
            data = self._rest + data
        at, end = 0, len(data)
        if not self._greeted:
            at = self._greet(data)
        while self._greeted and end - at >= HEAD_SIZE:
            high, low, kind, flags, stream = HEAD.unpack_from(data, at)
            length = high << 8 | low
            if length > LONGEST:
                raise BrokenError(ErrorCode.FRAME_SIZE_ERROR, f"a frame of {length} bytes")
            until = at + HEAD_SIZE + length
            if until > end:
                break
            payload = data[at + HEAD_SIZE : until]
            at = until
            yield kind, flags, stream & LAST_STREAM, payload
        self._rest = data[at:]

    def _greet(self, data: bytes) -> int:
        """Expect what every client says first; give where it ends."""
        if not data.startswith(PREFACE):
            if not PREFACE.startswith(data):
                raise BrokenError(ErrorCode.PROTOCOL_ERROR, "not HTTP/2")
            return 0
        self._greeted = True
        return len(PREFACE)


def frame(kind: Kind, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Write a frame."""
    length = len(payload)
    return HEAD.pack(length >> 8, length & 0xFF, kind, flags, stream) + payload


def settings(values: dict[Setting, int]) -> bytes:
    """Write our settings."""
    payload = b"".join(
        setting.to_bytes(2, "big") + value.to_bytes(4, "big") for setting, value in values.items()
    )
    return frame(Kind.SETTINGS, 0, 0, payload)


def window_update(stream: int, more: int) -> bytes:
    """Let the peer send so many bytes more; stream 0 is the connection."""
    return frame(Kind.WINDOW_UPDATE, 0, stream, more.to_bytes(4, "big"))


def reset(stream: int, code: ErrorCode) -> bytes:
    """End one stream."""
    return frame(Kind.RST_STREAM, 0, stream, code.to_bytes(4, "big"))


def go_away(last: int, code: ErrorCode, why: str = "") -> bytes:
    """Say that streams after `last` are not served."""
    payload = last.to_bytes(4, "big") + code.to_bytes(4, "big") + why.encode()
    return frame(Kind.GOAWAY, 0, 0, payload)


def read_settings(payload: bytes) -> Iterator[tuple[int, int]]:
    """Give the settings a peer told; raises BrokenError where they are cut off."""
    if len(payload) % 6:
        raise BrokenError(ErrorCode.FRAME_SIZE_ERROR, "settings are six bytes each")
    for at in range(0, len(payload), 6):
        yield unpack(">HI", payload[at : at + 6])


def unpadded(flags: int, payload: bytes) -> bytes:
    """Take padding off; raises BrokenError where there is more of it than payload."""
    if not flags & PADDED:
        return payload
    if not payload or payload[0] >= len(payload):
        raise BrokenError(ErrorCode.PROTOCOL_ERROR, "more padding than payload")
    return payload[1 : len(payload) - payload[0]]
