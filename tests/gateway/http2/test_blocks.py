"""Header blocks read with a memory mean the same as without one (RFC 7541)."""

import pytest
from hpack import Decoder, Encoder, HeaderTuple, NeverIndexedHeaderTuple
from hypothesis import given
from hypothesis import strategies as st

from controlplane.gateway.http2.blocks import BlockReader, Wanted
from controlplane.gateway.http2.representations import leaves_table
from tests.gateway.http2.peers import ASKED

PATHS = st.sampled_from([f"/test.Test/{name}" for name in ("One", "Two", "x" * 200)])
MORE = st.lists(
    st.tuples(st.sampled_from(["a", "b", "x-long-name"]), st.sampled_from(["", "1", "v" * 300])),
    max_size=3,
)
CALLS = st.lists(
    st.tuples(PATHS, MORE, st.booleans(), st.sampled_from([None, None, None, 0, 100, 4096])),
    min_size=1,
    max_size=25,
)


def headers(path: str, more: list[tuple[str, str]], once: bool) -> list[HeaderTuple]:
    """Fields as Envoy sends them: the path spelled out each time, the rest from the table."""
    kind = NeverIndexedHeaderTuple if once else HeaderTuple
    asked = [kind(n, path) if n == ":path" else HeaderTuple(n, v) for n, v in ASKED]
    return [*asked, *(kind(n, v) for n, v in more)]


@given(CALLS)
def test_every_block_means_what_it_means_to_a_plain_decoder(
    calls: list[tuple[str, list[tuple[str, str]], bool, int | None]],
) -> None:
    """Fields that were put into the table, thrown out of it, or written out for once."""
    encoder, reader, plain = Encoder(), BlockReader(), Decoder()
    for path, more, once, size in calls:
        if size is not None:
            encoder.header_table_size = size
        block = encoder.encode(headers(path, more, once), huffman=bool(more))
        before = list(plain.header_table.dynamic_entries)
        meant = {str(name): str(value) for name, value in plain.decode(block)}
        left = list(plain.header_table.dynamic_entries) == before

        assert reader.read(block) == Wanted(meant[":path"])
        assert left or not leaves_table(block)
        assert list(reader._decoder.header_table.dynamic_entries) == list(
            plain.header_table.dynamic_entries
        )


def test_what_is_asked_for_again_and_again_is_not_decoded_again() -> None:
    encoder, reader = Encoder(), BlockReader()
    blocks = [encoder.encode(headers("/test.Test/One", [], once=True)) for _ in range(3)]
    assert blocks[0] != blocks[1] == blocks[2]  # by now all is in the table

    found = [reader.read(block) for block in blocks]
    assert found[1] is found[2]


def test_the_memory_is_bounded() -> None:
    encoder, reader = Encoder(), BlockReader()
    for n in range(500):
        reader.read(encoder.encode(headers(f"/test.Test/{n}", [], once=True)))

    assert len(reader._known) <= 64


@pytest.mark.parametrize(
    ("block", "leaves"),
    [
        (b"\x82\x86\xbe", True),
        (b"\x04\x01/", True),
        (b"\x10\x01a\x01b", True),
        (b"\xff\x80\x01", True),
        (b"\x0f\x10\x01x", True),
        (b"\x44\x01/", False),
        (b"\x40\x01a\x01b", False),
        (b"\x20", False),
        (b"\x82\x3f\xe1\x1f", False),
        (b"\x04\x7f", False),
        (b"\x04\x05/", False),
        (b"\xff\x80", False),
        (b"\x00", False),
    ],
)
def test_what_leaves_the_table_as_it_is(block: bytes, leaves: bool) -> None:
    assert leaves_table(block) is leaves
