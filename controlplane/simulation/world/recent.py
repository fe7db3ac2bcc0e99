"""What a front door did lately: real percentiles over the last seconds, as a gateway measures them.

Waits count when a request starts, latencies when it ends, as they would be seen. A percentile of no
requests is no number; it is idle.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from controlplane.simulation.world.book import RANKS, Book, N

WINDOW_S = 15.0


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
    late = np.concatenate(book.recent_starts) if book.recent_starts else np.zeros((0, 4))
    started = late[late[:, 2] > since]
    ended = late[(late[:, 3] > since) & (late[:, 3] <= now)]
    at_once = np.zeros(N, dtype=np.int64)
    ranks, latencies = [ended[:, 0]], [ended[:, 3] - ended[:, 1]]
    for page in book.pages:
        last = until if page is book.pages[-1] else len(page.at)
        at_once += np.bincount(page.at_once(since, last), minlength=N)
        plain = page.ended(since, now)
        ranks.append(page.rank[plain].astype(np.float64))
        latencies.append(page.service_s[plain])
    rank, latency = np.concatenate(ranks), np.concatenate(latencies)
    waits = started[:, 2] - started[:, 1]
    return (
        [p99(waits[started[:, 0] == r], int(at_once[r])) for r in RANKS],
        [p99(latency[rank == r]) for r in RANKS],
    )
