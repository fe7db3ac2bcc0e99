"""Messages of a gRPC call in its stream of bytes: a flag, four bytes of length, the message."""

from struct import Struct

from controlplane.gateway.http2.blocks import Status

PREFIX = Struct(">BI")
PREFIX_SIZE = PREFIX.size
LONGEST_MESSAGE = 4 << 20  # bytes; as gRPC bounds them unless told otherwise


class RefusedError(Exception):
    """What was sent cannot be taken: the call ends with this status."""

    def __init__(self, status: Status) -> None:
        """Say with which."""
        super().__init__(status.name)
        self.status = status


class Messages:
    """Puts messages together again; one call's."""

    __slots__ = ("_partial",)

    def __init__(self) -> None:
        """Nothing was received."""
        self._partial: bytearray | None = None

    @property
    def cut_off(self) -> bool:
        """Say whether part of a message is there."""
        return self._partial is not None

    def take(self, data: bytes) -> list[bytes]:
        """Give the messages that are whole now; raises RefusedError."""
        if self._partial is None:
            whole = _whole(data)
            if whole is not None:
                return [whole]
            if not data:
                return []
            self._partial = bytearray()
        partial = self._partial
        partial += data
        found, at = [], 0
        while len(partial) - at >= PREFIX_SIZE:
            until = at + PREFIX_SIZE + _length(partial, at)
            if until > len(partial):
                break
            found.append(bytes(partial[at + PREFIX_SIZE : until]))
            at = until
        del partial[:at]
        if not partial:
            self._partial = None
        return found


def prefixed(message: bytes) -> bytes:
    """Give a message as it is sent."""
    return PREFIX.pack(0, len(message)) + message


def _whole(data: bytes) -> bytes | None:
    """Give the message where the bytes are just one, as they nearly always are."""
    if len(data) >= PREFIX_SIZE and _length(data, 0) == len(data) - PREFIX_SIZE:
        return data[PREFIX_SIZE:]
    return None


def _length(data: bytes | bytearray, at: int) -> int:
    compressed, length = PREFIX.unpack_from(data, at)
    if compressed:  # no way of compressing was agreed on
        raise RefusedError(Status.UNIMPLEMENTED)
    if length > LONGEST_MESSAGE:
        raise RefusedError(Status.RESOURCE_EXHAUSTED)
    size: int = length
    return size
