"""Header blocks: what a call asks for, and the few blocks we ever answer with (RFC 7541).

A peer that asks for the same again and again sends the same block, and once it has put into its
table what it wants there, the block leaves the table as it is. Such a block means the same until
another one changes the table, and is not decoded again; every other block is, so that our table
stays what the peer thinks it is.
"""

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from hpack import Decoder, Encoder, HeaderTuple, HPACKError, NeverIndexedHeaderTuple
from hpack.exceptions import OversizedHeaderListError

from controlplane.gateway.http2.frames import BrokenError, ErrorCode
from controlplane.gateway.http2.representations import leaves_table

LONGEST_LIST = 65_536  # bytes of a call's headers, as RFC 9113 counts them
MOST_KNOWN = 64
NEEDED = {":method", ":scheme", ":path"}
PSEUDO = NEEDED | {":authority"}
OF_A_CONNECTION = {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}


class Status(IntEnum):
    """How a gRPC call ended."""

    OK = 0
    UNKNOWN = 2
    RESOURCE_EXHAUSTED = 8
    UNIMPLEMENTED = 12
    INTERNAL = 13


class Wanted(NamedTuple):
    """What a call's headers ask for; no path where they are malformed."""

    path: str | None
    refused: bytes | None = None  # header block to answer with, where it is no gRPC


MALFORMED = Wanted(None)


class BlockReader:
    """Reads one peer's header blocks, in their order."""

    def __init__(self) -> None:
        """Begin with an empty table."""
        self._decoder = Decoder(max_header_list_size=LONGEST_LIST)
        self._known: dict[bytes, Wanted] = {}

    def read(self, block: bytes) -> Wanted:
        """Say what is wanted; raises BrokenError where the block cannot be decoded."""
        known = self._known.get(block)
        if known is not None:
            return known
        try:
            wanted = _wanted(self._decoder.decode(block, raw=True))
        except OversizedHeaderListError:
            raise BrokenError(ErrorCode.ENHANCE_YOUR_CALM, "headers too long") from None
        except HPACKError:
            raise BrokenError(ErrorCode.COMPRESSION_ERROR, "not HPACK") from None
        if not leaves_table(block):
            self._known.clear()
        elif len(self._known) < MOST_KNOWN:
            self._known[block] = wanted
        return wanted


def _wanted(headers: Iterable[tuple[bytes, bytes]]) -> Wanted:
    pseudo: dict[str, str] = {}
    kind, over = "", False
    for name, value in ((n.decode("latin-1"), v.decode("latin-1")) for n, v in headers):
        if name.startswith(":"):
            if over or name in pseudo or name not in PSEUDO:
                return MALFORMED
            pseudo[name] = value
            continue
        over = True
        if not _allowed(name, value):
            return MALFORMED
        if name == "content-type":
            kind = value
    if not pseudo.keys() >= NEEDED or not pseudo[":path"]:
        return MALFORMED
    return Wanted(pseudo[":path"], _refused(pseudo[":method"], kind))


def _allowed(name: str, value: str) -> bool:
    if name == "te":
        return value == "trailers"
    return name == name.lower() and name not in OF_A_CONNECTION


def _refused(method: str, kind: str) -> bytes | None:
    if method != "POST":
        return NOT_POST
    return None if kind.startswith("application/grpc") else NOT_GRPC


def _block(*headers: tuple[str, str]) -> bytes:
    """Write a block that puts nothing into the peer's table, so that it may be sent at any time."""
    return Encoder().encode([_alone(name, value) for name, value in headers])


def _alone(name: str, value: str) -> HeaderTuple:
    indexed = (name, value) == (":status", "200")
    return HeaderTuple(name, value) if indexed else NeverIndexedHeaderTuple(name, value)


BEGIN = _block((":status", "200"), ("content-type", "application/grpc"))
END = {status: _block(("grpc-status", str(status.value))) for status in Status}
ALL = {
    status: _block(
        (":status", "200"),
        ("content-type", "application/grpc"),
        ("grpc-accept-encoding", "identity"),
        ("grpc-status", str(status.value)),
    )
    for status in Status
}  # a call that ends before it has been answered
NOT_POST = _block((":status", "405"), ("allow", "POST"))
NOT_GRPC = _block((":status", "415"))
