"""Whether a header block leaves the table as it is (RFC 7541, 6), without decoding it."""

INDEXED, INCREMENTAL, SIZE_UPDATE, LITERAL = 0x80, 0x40, 0x20, 0x10
MANY = 0x7F


def leaves_table(block: bytes) -> bool:
    """Say so of a well-formed block: it only refers to the table, or spells fields out for once."""
    at = 0
    try:
        while at < len(block):
            first = block[at]
            if first & INDEXED:
                _, at = _number(block, at, MANY)
                continue
            if first & (INCREMENTAL | SIZE_UPDATE):
                return False
            name, at = _number(block, at, LITERAL - 1)
            if not name:
                at = _after_string(block, at)
            at = _after_string(block, at)
    except IndexError:
        return False  # cut off: whoever decodes it will say so
    return at == len(block)


def _after_string(block: bytes, at: int) -> int:
    length, at = _number(block, at, MANY)
    return at + length


def _number(block: bytes, at: int, mask: int) -> tuple[int, int]:
    """Read a number that begins in the low bits of a byte; give it and where it ends."""
    number = block[at] & mask
    at += 1
    if number < mask:
        return number, at
    shift = 0
    while True:
        more = block[at]
        at += 1
        number += (more & MANY) << shift
        shift += 7
        if more <= MANY:
            return number, at
