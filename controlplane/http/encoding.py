"""JSON of large values, written in pieces so that the event loop is never held for long.

A fleet of thousands of nodes is megabytes of JSON: encoded at once it would hold up every loop.
"""

import asyncio
from collections.abc import AsyncIterator

import msgspec

encode = msgspec.json.Encoder(decimal_format="string").encode

DEPTH = 4  # fleet -> pools -> pool -> nodes -> one node at once
ITEMS_AT_ONCE = 50


async def encoded(value: object) -> bytes:
    """Give the JSON of a value; the same bytes as encoding it at once."""
    return b"".join([piece async for piece in _pieces(value, DEPTH)])


async def _pieces(value: object, depth: int) -> AsyncIterator[bytes]:
    if depth and isinstance(value, msgspec.Struct) and _plain(value):
        opening = b"{"
        for field in msgspec.structs.fields(value):
            yield opening + encode(field.encode_name) + b":"
            async for piece in _pieces(getattr(value, field.name), depth - 1):
                yield piece
            opening = b","
        yield b"}" if opening == b"," else b"{}"
    elif (
        depth and isinstance(value, tuple | list) and value and isinstance(value[0], msgspec.Struct)
    ):
        opening = b"["
        for index, item in enumerate(value):
            yield opening
            async for piece in _pieces(item, depth - 1):
                yield piece
            opening = b","
            if index % ITEMS_AT_ONCE == ITEMS_AT_ONCE - 1:
                await asyncio.sleep(0)
        yield b"]"
    else:
        yield encode(value)


def _plain(value: msgspec.Struct) -> bool:
    """Say whether a Struct is written field by field: no tag, no array, nothing left out."""
    config = value.__struct_config__
    return not config.array_like and config.tag is None and not config.omit_defaults
