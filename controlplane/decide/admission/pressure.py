"""Whether an engine has more than it can take: nothing more is released to one that has.

It says so by a queue of its own, or by a full KV cache, where the next token may throw another
request out. One look may catch a request between two steps of the engine, so a queue counts when
it is there at two looks in a row; the cache fills slowly, and is full until there is room again.
"""

import msgspec

KV_FULL, KV_ROOM = 0.95, 0.90  # shares of the cache: full from the first on, until below the second


class Pressure(msgspec.Struct, frozen=True):
    """What the looks at one engine came to so far."""

    queues: bool = False  # at the last look
    cache_full: bool = False
    full: bool = False


EASY = Pressure()


def pressed(before: Pressure, queue: float | None, kv_usage: float | None) -> Pressure:
    """Take in one more look; a figure the engine does not export says nothing."""
    queues = bool(queue)
    limit = KV_ROOM if before.cache_full else KV_FULL
    cache_full = kv_usage is not None and kv_usage >= limit
    return Pressure(queues, cache_full, cache_full or (queues and before.queues))
