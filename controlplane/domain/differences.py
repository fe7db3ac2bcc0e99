"""Where a decision, taken again, comes out otherwise."""

from collections.abc import Iterator
from hashlib import blake2b
from itertools import zip_longest

import msgspec

from controlplane.domain.decisions import Choice


class Difference(msgspec.Struct, frozen=True):
    """One part that differs, both sides as JSON; empty where a side has no such part."""

    field: str  # e.g. target, trail[2]
    stored: str
    now: str


def digest(seen: bytes) -> str:
    """Give the fingerprint that is stored beside an input."""
    return blake2b(seen, digest_size=8).hexdigest()


def altered(seen: bytes, stored: str) -> Iterator[Difference]:
    """Say whether an input is no longer the one that was stored: not every byte moves a rule."""
    if stored and stored != digest(seen):
        yield Difference("seen", stored, digest(seen))


def differences(stored: Choice, again: Choice) -> Iterator[Difference]:
    """Compare all that was decided; what was seen is the same by construction.

    Both sides are compared as they are stored: JSON knows neither infinity nor a tuple.
    """
    for field in ("subject", "current", "target"):
        yield from _unequal(field, getattr(stored, field), getattr(again, field))
    for field in ("trail", "refused", "actions"):
        pairs = zip_longest(getattr(stored, field), getattr(again, field))
        for index, (old, new) in enumerate(pairs):
            yield from _unequal(f"{field}[{index}]", old, new)


def _unequal(field: str, old: object, new: object) -> Iterator[Difference]:
    stored, now = _json(old), _json(new)
    if stored != now:
        yield Difference(field, stored, now)


def _json(value: object) -> str:
    # Ordered, for a mapping that was read back may list its keys otherwise.
    return "" if value is None else msgspec.json.encode(value, order="deterministic").decode()
