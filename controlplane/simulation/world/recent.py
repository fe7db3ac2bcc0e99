"""What a front door did lately: real percentiles over the last seconds, as a gateway measures them.

Waits count when a request starts, latencies when it ends, as they would be seen. A percentile of no
requests is no number; it is idle.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from controlplane.simulation.world.book import WINDOW_S, Book
from controlplane.simulation.world.source import N

_NO_STARTS = np.zeros((3, 0))


def p99(values: NDArray[np.float64], zeros: int = 0) -> float | None:
    """Give the 99th percentile of some values and so many zeros besides, by nearest rank."""
    total = len(values) + zeros
    if not total:
        return None
    rank = -(-total * 99 // 100) - 1 - zeros
    if rank < 0:
        return 0.0
    return float(np.partition(values, rank)[rank])


def percentiles(
    book: Book, now: float, until: int
) -> tuple[Sequence[float | None], Sequence[float | None]]:
    """Give the P99 of waits and of latencies by rank; `until` is the newest page's next index."""
    since = now - WINDOW_S
    pages = book.pages
    plain = sum(page.at_once(since, until if page is pages[-1] else len(page.at)) for page in pages)
    counts = np.zeros(N, dtype=np.intp) + plain
    waits: list[float | None] = []
    latencies: list[float | None] = []
    for rank, recent in enumerate(book.recent_starts):
        rows = np.concatenate(recent, axis=1) if recent else _NO_STARTS
        arrived, started, end = rows
        fresh = started > since
        waits.append(p99(started[fresh] - arrived[fresh], int(counts[rank])))
        ended = (end > since) & (end <= now)
        parts = [page.latencies(rank, since, now) for page in pages]
        latencies.append(p99(np.concatenate((end[ended] - arrived[ended], *parts))))
    return waits, latencies
