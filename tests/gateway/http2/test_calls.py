"""Calls of an independent client, whatever way its bytes are split on their way."""

from collections.abc import Iterable

import pytest
from h2.errors import ErrorCodes
from h2.events import DataReceived, PingAckReceived, ResponseReceived
from h2.exceptions import TooManyStreamsError
from h2.settings import SettingCodes
from hypothesis import given
from hypothesis import strategies as st

from controlplane.gateway.http2.framing import LONGEST_MESSAGE, prefixed
from tests.gateway.http2.peers import ASKED, ECHO, Echoes, Facing

WINDOWS = st.integers(0, 5000)


def test_a_call_is_answered_message_by_message_and_ends_well() -> None:
    echoes = Echoes()
    both = Facing(echoes)
    number = both.ask(b"one", b"", b"two")
    both.exchange()

    (answer,) = both.of(ResponseReceived, number)
    assert dict(answer.headers) == {":status": "200", "content-type": "application/grpc"}
    assert both.data(number) == prefixed(b"one") + prefixed(b"") + prefixed(b"two")
    assert both.status(number) == "0"
    assert echoes.ends == ["closed"]
    assert both.resets(number) == []


@given(
    calls=st.lists(st.lists(st.binary(max_size=300), max_size=4), min_size=1, max_size=6),
    data=st.data(),
)
def test_however_the_bytes_are_split_each_call_gets_its_own_answer(
    calls: list[list[bytes]], data: st.DataObject
) -> None:
    both = Facing(Echoes())

    def cut(said: bytes) -> Iterable[bytes]:
        at = sorted(data.draw(st.sets(st.integers(0, len(said)), max_size=12)))
        return (said[a:b] for a, b in zip([0, *at], [*at, len(said)], strict=True))

    numbers = [both.ask(*messages) for messages in calls]
    both.exchange(cut)

    assert [both.data(n) for n in numbers] == [b"".join(map(prefixed, m)) for m in calls]
    assert {both.status(n) for n in numbers} == {"0"}


@given(pieces=st.lists(st.integers(1, 40), min_size=1, max_size=30), ends=st.booleans())
def test_a_message_spread_over_many_frames_arrives_whole(pieces: list[int], ends: bool) -> None:
    echoes = Echoes()
    both = Facing(echoes)
    message = bytes(sum(pieces))
    number = both.ask(end=False)
    sent = prefixed(message)
    for size in (*pieces, 5):
        both.client.send_data(number, sent[:size], pad_length=size % 3 or None)
        sent = sent[size:]
        both.exchange()
    if ends:
        both.client.end_stream(number)
        both.exchange()

    assert echoes.calls[0].heard == [message]
    assert both.status(number) == ("0" if ends else None)


@given(
    sizes=st.lists(st.integers(0, 60_000), min_size=1, max_size=3),
    window=WINDOWS,
    later=WINDOWS,
    step=st.integers(500, 70_000),
)
def test_nothing_is_sent_beyond_the_windows_and_nothing_is_lost(
    sizes: list[int], window: int, later: int, step: int
) -> None:
    """The independent client ends the connection at the first byte too much."""
    both = Facing(Echoes(), window=window)
    numbers = [both.ask(bytes([n]) * size) for n, size in enumerate(sizes)]
    both.exchange()
    assert all(len(both.data(n)) <= window for n in numbers)
    both.client.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: later})  # may be less than used
    both.exchange()
    for _ in range(2 * sum(sizes) // step + 8 * len(sizes)):
        open_ones = [n for n in numbers if both.status(n) is None]
        for number in open_ones:
            both.client.increment_flow_control_window(step, number)
        if open_ones:
            both.client.increment_flow_control_window(step)
        both.exchange()

    assert [both.data(n) for n in numbers] == [
        prefixed(bytes([n]) * size) for n, size in enumerate(sizes)
    ]
    assert {both.status(n) for n in numbers} == {"0"}


def test_a_client_may_send_more_than_all_our_windows_for_they_open_again() -> None:
    echoes = Echoes()
    both = Facing(echoes)
    number = both.ask(end=False)
    total = 0
    for n in range(12):
        sent = prefixed(bytes(LONGEST_MESSAGE - n) + b"")
        while sent:
            size = min(len(sent), 16_384, both.client.local_flow_control_window(number))
            assert size, "the window stays shut"
            both.client.send_data(number, sent[:size])
            sent, total = sent[size:], total + size
            both.server.receive(both.client.data_to_send())
            both.client.receive_data(_updates_alone(both.wire.taken()))

    assert total > 40 << 20
    assert [len(m) for m in echoes.calls[0].heard] == [LONGEST_MESSAGE - n for n in range(12)]


def _updates_alone(data: bytes) -> bytes:
    """Leave out the echo, which is not what is asked for here."""
    kept, at = b"", 0
    while at < len(data):
        end = at + 9 + int.from_bytes(data[at : at + 3], "big")
        kept += data[at:end] if data[at + 3] == 8 else b""
        at = end
    return kept


def test_a_reset_call_is_lost_once_and_answered_no_more() -> None:
    echoes = Echoes()
    both = Facing(echoes)
    number = both.ask(b"hold", end=False)
    both.exchange()
    both.client.reset_stream(number, ErrorCodes.CANCEL)
    both.exchange()
    echoes.calls[0].stream.send(b"too late")
    echoes.calls[0].stream.finish(b"too late")
    both.exchange()

    assert echoes.ends == ["lost"]
    assert both.of(DataReceived) == []


def test_who_says_all_and_takes_it_back_in_one_breath_is_answered_nothing() -> None:
    """So Envoy ends every call; an answer would only wake it."""
    echoes = Echoes()
    both = Facing(echoes)
    number = both.ask(b"hold", end=False)
    both.exchange()
    both.client.end_stream(number)
    both.client.reset_stream(number, ErrorCodes.INTERNAL_ERROR)
    both.server.receive(both.client.data_to_send())

    assert both.wire.taken() == b""
    assert echoes.ends == ["lost"]


def test_who_is_answered_for_the_last_time_before_it_has_said_all_is_told_so() -> None:
    echoes = Echoes()
    both = Facing(echoes)
    number = both.ask(b"enough", end=False)
    both.exchange()

    assert (both.status(number), both.resets(number)) == ("0", [ErrorCodes.NO_ERROR])
    assert both.data(number) == prefixed(b"enough")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x01\x00\x00\x00\x01x", "12"),
        (b"\x00" + (LONGEST_MESSAGE + 1).to_bytes(4, "big"), "8"),
        (b"\x00\x00\x00\x00\x09cut", "13"),
        (b"\x00\x00", "13"),
        (prefixed(b"break"), "2"),
    ],
    ids=["compressed", "too long", "cut off", "cut off before its length", "served by a fault"],
)
def test_a_call_that_cannot_go_on_ends_with_a_status_and_no_other_call_does(
    sent: bytes, status: str
) -> None:
    echoes = Echoes()
    both = Facing(echoes)
    other = both.ask(b"hold", end=False)
    number = both.ask(end=False)
    both.client.send_data(number, sent, end_stream=True)
    both.exchange()
    assert both.status(number) == status
    assert echoes.ends == ["lost"]
    both.client.send_data(other, prefixed(b"still here"), end_stream=True)
    both.exchange()

    assert (both.data(other), both.status(other)) == (prefixed(b"still here"), "0")


def test_what_nobody_serves_is_unimplemented() -> None:
    both = Facing(Echoes())
    numbers = [both.ask(b"x", path=f"{ECHO}s", end=end) for end in (True, False)]
    both.exchange()

    assert [both.status(n) for n in numbers] == ["12", "12"]


@pytest.mark.parametrize(
    ("changed", "status"),
    [({":method": "GET"}, "405"), ({"content-type": "text/plain"}, "415")],
)
def test_what_is_no_grpc_is_told_so_in_http(changed: dict[str, str], status: str) -> None:
    both = Facing(Echoes())
    number = both.client.get_next_available_stream_id()
    asked = dict(ASKED)
    both.client.send_headers(number, list((asked | changed).items()))
    both.exchange()

    assert dict(both.of(ResponseReceived, number)[0].headers)[":status"] == status


def test_long_headers_go_on_in_further_frames() -> None:
    both = Facing(Echoes())
    number = both.ask(b"x", more="y" * 50_000)
    both.exchange()

    assert both.status(number) == "0"


def test_trailers_of_a_client_end_what_it_says() -> None:
    echoes = Echoes()
    both = Facing(echoes)
    number = both.ask(b"x", end=False)
    both.client.send_headers(number, [("over", "yes")], end_stream=True)
    both.exchange()

    assert (both.status(number), echoes.ends) == ("0", ["closed"])


def test_no_more_calls_are_open_than_was_said() -> None:
    both = Facing(Echoes(), most_streams=2)
    for _ in range(2):
        both.ask(b"hold", end=False)
    with pytest.raises(TooManyStreamsError):
        both.ask(b"hold", end=False)


def test_a_ping_is_answered() -> None:
    both = Facing(Echoes())
    both.client.ping(b"12345678")
    both.exchange()

    assert [e.ping_data for e in both.of(PingAckReceived)] == [b"12345678"]


def test_a_peer_that_is_gone_loses_all_its_calls() -> None:
    echoes = Echoes()
    both = Facing(echoes)
    for _ in range(3):
        both.ask(b"hold", end=False)
    both.exchange()
    both.server.lost()

    assert echoes.ends == ["lost"] * 3
