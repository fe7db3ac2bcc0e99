"""What a front door did lately: real percentiles over the last seconds, as a gateway measures them.

Waits count when a request starts, latencies when it ends, as they would be seen. A percentile of no
requests is no number; it is idle.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from controlplane.simulation.world.book import WINDOW_S, Book
from controlplane.simulation.world.source import FEW, RANKS, N

_ZEROS = np.zeros(N, dtype=np.intp)
_NONE = np.zeros(0)


Percentiles: TypeAlias = "list[float | None]"


_IDLE: Percentiles = [None for _ in RANKS]


def percentiles(book: Book, now: float, until: int) -> tuple[Percentiles, Percentiles]:
    """Give the P99 of waits and of latencies by rank; `until` is the newest page's next index."""
    since = now - WINDOW_S
    page = book.pages[-1]
    first = int(page.at.searchsorted(since - page.longest_s))
    waiting = 0
    for recent in book.recent_starts:
        for rows in recent:
            waiting += rows.shape[1]
    if first == until and not waiting and len(book.pages) == 1:
        return _IDLE, _IDLE
    if len(book.pages) == 1 and until - first + waiting <= FEW:
        return _of_few(book, (since, now), first, until)
    return _of_many(book, (since, now), until)


def _of_few(
    book: Book, window: tuple[float, float], first: int, until: int
) -> tuple[Percentiles, Percentiles]:
    """With lists: an array call costs as much as fifty requests."""
    since, now = window
    page = book.pages[-1]
    at_once = [0 for _ in RANKS]
    waits: list[list[float]] = [[] for _ in RANKS]
    latencies: list[list[float]] = [[] for _ in RANKS]
    columns = (page.at, page.rank, page.service_s, page.apart)
    rows = (column[first:until].tolist() for column in columns)
    for at, rank, service_s, apart in zip(*rows, strict=True):
        if not apart:
            at_once[rank] += at > since
            if since < at + service_s <= now:
                latencies[rank].append(service_s)
    for rank, recent in enumerate(book.recent_starts):
        starts = [start for rows in recent for start in rows.T.tolist()]
        waits[rank] += [began - at for at, began, _ in starts if began > since]
        latencies[rank] += [end - at for at, _, end in starts if since < end <= now]
    return (
        [_nearest_rank(sorted(waits[rank]), at_once[rank]) for rank in RANKS],
        [_nearest_rank(sorted(latencies[rank])) for rank in RANKS],
    )


def _nearest_rank(ordered: list[float], zeros: int = 0) -> float | None:
    if not ordered and not zeros:
        return None
    rank = _rank(len(ordered), zeros)
    return ordered[rank] if rank >= 0 else 0.0


def _rank(values: int, zeros: int) -> int:
    """Give the place of the 99th percentile among the values, below 0 where it is a zero."""
    return -(-(values + zeros) * 99 // 100) - 1 - zeros


def _of_many(
    book: Book, window: tuple[float, float], until: int
) -> tuple[Percentiles, Percentiles]:
    """With arrays."""
    since, now = window
    pages = book.pages
    plain = sum(page.at_once(since, until if page is pages[-1] else len(page.at)) for page in pages)
    counts: list[int] = (_ZEROS + plain).tolist()
    waits: Percentiles = []
    latencies: Percentiles = []
    for rank, recent in enumerate(book.recent_starts):
        waited = _NONE
        parts = [page.latencies(rank, since, now) for page in pages]
        if recent:
            arrived, started, end = np.concatenate(recent, axis=1)
            waited = (started - arrived)[started > since]
            parts.append((end - arrived)[(end > since) & (end <= now)])
        waits.append(_partitioned(waited, counts[rank]))
        latencies.append(_partitioned(np.concatenate(parts)))
    return waits, latencies


def _partitioned(values: NDArray[np.float64], zeros: int = 0) -> float | None:
    """Give the percentile of values that are nobody else's: they are reordered."""
    if not len(values) and not zeros:
        return None
    rank = _rank(len(values), zeros)
    if rank < 0:
        return 0.0
    values.partition(rank)
    return float(values[rank])
