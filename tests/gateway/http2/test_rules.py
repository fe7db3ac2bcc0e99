"""Whatever breaks the rules of RFC 9113 ends what the RFC says, with the code it names."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hpack import Encoder
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    PushPromiseFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)
from hypothesis import given
from hypothesis import strategies as st

from controlplane.gateway.http2.connection import Connection
from controlplane.gateway.http2.frames import PREFACE
from controlplane.gateway.http2.framing import prefixed
from tests.gateway.http2.peers import ASKED, ECHO, Echoes, Written

PROTOCOL, FLOW, CLOSED, SIZE, REFUSED, COMPRESSION, CALM = 1, 3, 5, 6, 7, 9, 11
BLOCK = Encoder().encode(ASKED)
WHOLE, LAST = "END_HEADERS", "END_STREAM"


def opened(number: int = 1, *flags: str, block: bytes = BLOCK) -> Frame:
    return HeadersFrame(number, block, flags=[WHOLE, *flags])


def raw(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    head = len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")
    return head + payload


def said(*frames: Frame | bytes) -> bytes:
    return b"".join(f if isinstance(f, bytes) else f.serialize() for f in frames)


class Answered:
    """What our side makes of it."""

    def __init__(self, *frames: Frame | bytes, greeting: bytes | None = None) -> None:
        self.wire, self.echoes = Written(), Echoes()
        self.server = Connection({ECHO: self.echoes}, self.wire, 3)
        if greeting is None:
            greeting = said(PREFACE, SettingsFrame(0))
        self.server.receive(greeting + said(*frames))
        self.frames = read(self.wire.taken())

    def of(self, kind: type[Frame]) -> list[Any]:
        return [f for f in self.frames if isinstance(f, kind)]


def read(data: bytes) -> list[Any]:
    found: list[Any] = []
    while data:
        frame, length = Frame.parse_frame_header(memoryview(data[:9]))
        frame.parse_body(memoryview(data[9 : 9 + length]))
        found.append(frame)
        data = data[9 + length :]
    return found


ENDS_ALL: Sequence[tuple[str, list[Frame | bytes], int]] = [
    ("data for all", [raw(0, 0, 0, b"x")], PROTOCOL),
    ("data for a stream that never was", [DataFrame(1, b"x")], PROTOCOL),
    ("data for a stream of ours", [opened(3), DataFrame(2, b"x")], PROTOCOL),
    ("headers for all", [raw(1, 4, 0, BLOCK)], PROTOCOL),
    ("headers of a stream of ours", [raw(1, 4, 2, BLOCK)], PROTOCOL),
    ("a reset of what never was", [RstStreamFrame(5, 8)], PROTOCOL),
    ("a window of what never was", [WindowUpdateFrame(5, 8)], PROTOCOL),
    ("a promise", [opened(), PushPromiseFrame(1, 2, BLOCK, flags=[WHOLE])], PROTOCOL),
    ("settings of a stream", [raw(4, 0, 1, b"")], PROTOCOL),
    ("a ping of a stream", [raw(6, 0, 1, bytes(8))], PROTOCOL),
    ("going away of a stream", [raw(7, 0, 1, bytes(8))], PROTOCOL),
    ("priority of all", [raw(2, 0, 0, bytes(5))], PROTOCOL),
    ("a continuation of nothing", [ContinuationFrame(1, BLOCK, flags=[WHOLE])], PROTOCOL),
    ("a continuation of another", [HeadersFrame(1, BLOCK), ContinuationFrame(3, b"")], PROTOCOL),
    ("an interrupted block", [HeadersFrame(1, BLOCK), PingFrame(0, bytes(8))], PROTOCOL),
    ("an unknown frame in a block", [HeadersFrame(1, BLOCK), raw(200, 0, 0, b"")], PROTOCOL),
    ("more padding than data", [opened(), raw(0, 8, 1, b"\x09x")], PROTOCOL),
    ("padding that is not there", [opened(), raw(0, 8, 1, b"")], PROTOCOL),
    ("a window opened by nothing", [raw(8, 0, 0, bytes(4))], PROTOCOL),
    ("push neither on nor off", [SettingsFrame(0, {2: 2})], PROTOCOL),
    ("frames too small", [SettingsFrame(0, {5: 16_383})], PROTOCOL),
    ("frames too large", [SettingsFrame(0, {5: 1 << 24})], PROTOCOL),
    ("a setting of too large a window", [SettingsFrame(0, {4: 1 << 31})], FLOW),
    ("a window too large", [WindowUpdateFrame(0, 2**31 - 1)], FLOW),
    (
        "a window too large by a setting",
        [opened(), WindowUpdateFrame(1, 2**30), SettingsFrame(0, {4: 2**30})],
        FLOW,
    ),
    ("a frame too long", [b"\x00\x40\x01\x00\x00\x00\x00\x00\x01"], SIZE),
    ("a short ping", [raw(6, 0, 0, bytes(7))], SIZE),
    ("a short reset", [opened(), raw(3, 0, 1, bytes(3))], SIZE),
    ("a short window", [raw(8, 0, 0, bytes(3))], SIZE),
    ("a short priority", [raw(2, 0, 1, bytes(4))], SIZE),
    ("headers with half a priority", [raw(1, 0x24, 1, bytes(4))], SIZE),
    ("settings cut off", [raw(4, 0, 0, bytes(5))], SIZE),
    ("settings acknowledged with settings", [raw(4, 1, 0, bytes(6))], SIZE),
    ("an index that is nowhere", [opened(block=b"\xfe")], COMPRESSION),
    ("a block cut off", [opened(block=BLOCK[:-3])], COMPRESSION),
    ("a table too large", [opened(block=b"\x3f\xe2\x7f" + BLOCK)], COMPRESSION),
    (
        "a block without end",
        [HeadersFrame(1, b""), *[ContinuationFrame(1, bytes(16_000)) for _ in range(5)]],
        CALM,
    ),
    ("a block in endless pieces", [HeadersFrame(1, b""), *[ContinuationFrame(1)] * 64], CALM),
    (
        "a small block that unpacks to much",
        [opened(block=Encoder().encode([("x", "y" * 3000)]) + b"\xbe" * 30)],
        CALM,
    ),
]


@pytest.mark.parametrize(
    ("frames", "code"), [row[1:] for row in ENDS_ALL], ids=[row[0] for row in ENDS_ALL]
)
def test_what_breaks_the_connection_ends_it_with_its_code(
    frames: list[Frame | bytes], code: int
) -> None:
    seen = Answered(*frames)

    assert isinstance(seen.frames[-1], GoAwayFrame)
    assert seen.frames[-1].error_code == code
    assert seen.wire.closed
    assert seen.echoes.ends == ["lost"] * len(seen.echoes.calls)


@pytest.mark.parametrize(
    "greeting",
    [b"GET / HTTP/1.1\r\n\r\n", PREFACE[:5] + b"x", said(PREFACE, PingFrame(0, bytes(8)))],
    ids=["HTTP/1", "nearly", "no settings"],
)
def test_who_does_not_greet_is_not_served(greeting: bytes) -> None:
    seen = Answered(opened(), greeting=greeting)

    assert seen.frames[-1].error_code == PROTOCOL
    assert seen.echoes.calls == []


ENDS_ONE: Sequence[tuple[str, list[Frame | bytes], int]] = [
    ("data after its end", [opened(1, LAST), DataFrame(1, b"x")], CLOSED),
    ("headers after its end", [opened(1, LAST), opened(1, LAST)], CLOSED),
    ("headers in the middle", [opened(), opened()], PROTOCOL),
    ("a window opened by nothing", [opened(), raw(8, 0, 1, bytes(4))], PROTOCOL),
    ("a window too large", [opened(), WindowUpdateFrame(1, 2**31 - 1)], FLOW),
]


@pytest.mark.parametrize(
    ("frames", "code"), [row[1:] for row in ENDS_ONE], ids=[row[0] for row in ENDS_ONE]
)
def test_what_breaks_a_stream_ends_it_alone(frames: list[Frame | bytes], code: int) -> None:
    seen = Answered(*frames, opened(3))

    assert [f.error_code for f in seen.of(RstStreamFrame) if f.stream_id == 1] == [code]
    assert seen.of(GoAwayFrame) == []
    assert not seen.wire.closed
    assert seen.echoes.ends == ["lost"]
    assert len(seen.echoes.calls) == 2


MALFORMED = {
    "no path": [h for h in ASKED if h[0] != ":path"],
    "two paths": [*ASKED[:3], *ASKED[2:]],
    "an unknown pseudo-header": [(":other", "x"), *ASKED],
    "a pseudo-header after others": [*ASKED, (":authority", "x")],
    "capitals": [*ASKED, ("Name", "x")],
    "a header of the connection": [*ASKED, ("connection", "close")],
    "other encodings": [*ASKED[:4], ("te", "gzip"), ASKED[5]],
}


@pytest.mark.parametrize("headers", MALFORMED.values(), ids=MALFORMED)
def test_malformed_headers_end_their_stream(headers: list[tuple[str, str]]) -> None:
    seen = Answered(opened(1, block=Encoder().encode(headers)), DataFrame(1, b"late"))

    (ended,) = seen.of(RstStreamFrame)
    assert (ended.stream_id, ended.error_code) == (1, PROTOCOL)
    assert seen.echoes.calls == []


def test_more_streams_than_were_allowed_are_refused_so_that_they_may_be_asked_for_again() -> None:
    seen = Answered(*(opened(n) for n in (1, 3, 5, 7)), DataFrame(7, b"late"))

    assert [(f.stream_id, f.error_code) for f in seen.of(RstStreamFrame)] == [(7, REFUSED)]
    assert len(seen.echoes.calls) == 3


@pytest.mark.parametrize(
    "late", [DataFrame(1, b"x"), WindowUpdateFrame(1, 9), RstStreamFrame(1, 8)]
)
def test_what_comes_late_for_a_stream_that_is_over_is_passed_over(late: Frame) -> None:
    seen = Answered(opened(), RstStreamFrame(1, 8), late, PingFrame(0, bytes(8)))

    assert seen.of(GoAwayFrame) == []
    assert len(seen.of(PingFrame)) == 1


def test_windows_are_opened_again_by_what_was_taken_before_they_are_used_up() -> None:
    sent = 4 * prefixed(bytes((4 << 20) - 5))
    pieces = (sent[at : at + 16_384] for at in range(0, len(sent), 16_384))
    seen = Answered(opened(), *(DataFrame(1, piece) for piece in pieces))

    opening = [(f.stream_id, f.window_increment) for f in seen.of(WindowUpdateFrame)]
    assert opening.count((1, 1 << 19)) == 32
    assert opening.count((0, 1 << 23)) == 2


def test_drained_it_serves_what_there_is_and_closes_after_the_last_call() -> None:
    seen = Answered(opened(1))
    seen.server.drain()
    away, ping = read(seen.wire.taken())
    assert (away.last_stream_id, away.error_code) == (2**31 - 1, 0)
    late = opened(3)  # was on its way before the client could know
    seen.server.receive(said(late, PingFrame(0, ping.opaque_data, flags=["ACK"]), opened(5)))
    away, refused = read(seen.wire.taken())
    assert (away.last_stream_id, away.error_code) == (3, 0)
    assert (refused.stream_id, refused.error_code) == (5, REFUSED)
    first, second = seen.echoes.calls
    first.stream.finish(b"done")
    assert not seen.wire.closed
    second.stream.finish(b"done")

    assert seen.wire.closed


def test_drained_with_nothing_to_do_it_closes_as_soon_as_the_peer_knows() -> None:
    seen = Answered()
    seen.server.drain()
    ping = read(seen.wire.taken())[1]
    seen.server.receive(said(PingFrame(0, ping.opaque_data, flags=["ACK"])))

    assert seen.wire.closed


def test_a_peer_that_leaves_is_served_to_its_last_call() -> None:
    seen = Answered(opened(), GoAwayFrame(0))
    assert not seen.wire.closed
    seen.server.receive(said(DataFrame(1, b"", flags=[LAST])))

    assert seen.echoes.ends == ["closed"]
    assert seen.wire.closed


@given(seed=st.integers(0, 2**32), flips=st.integers(1, 8), cut=st.integers(1, 4000))
def test_whatever_comes_nothing_is_raised_and_every_call_ends_once(
    seed: int, flips: int, cut: int
) -> None:
    chance = random.Random(seed)
    frames: list[Frame | bytes] = [opened(n) for n in (1, 3, 5)]
    frames += [DataFrame(n, prefixed(b"m" * n)) for n in (1, 3, 5)]
    frames += [
        PriorityFrame(3, stream_weight=3),
        DataFrame(3, b"", flags=[LAST]),
        RstStreamFrame(5, 8),
    ]
    chance.shuffle(frames)
    data = bytearray(said(*frames))
    for _ in range(flips):
        data[chance.randrange(len(data))] = chance.randrange(256)
    seen = Answered()
    for at in range(0, len(data), cut):
        seen.server.receive(bytes(data[at : at + cut]))
    seen.server.lost()

    assert len(seen.echoes.ends) == len(seen.echoes.calls)
    assert all(isinstance(frame, Frame) for frame in read(seen.wire.taken()))
