"""What a front door did lately: real percentiles over the last seconds, as a gateway measures them.

Waits count when a request starts, latencies when it ends, as they would be seen. A percentile of no
requests is no number; it is idle.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from controlplane.simulation.world.book import RANKS, Book

WINDOW_S = 15.0
SHARE = 0.99

Rows = NDArray[np.float64]  # rank, arrived, started, end


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
    rows = [r for r in book.recent_starts if len(r)]
    late = np.concatenate(rows) if rows else np.zeros((0, 4))
    started = late[late[:, 2] > since]
    at_once = np.zeros(len(RANKS), dtype=np.int64)
    ranks, latencies = [late[:, 0]], [late[:, 3] - late[:, 1]]
    ended = [(late[:, 3] > since) & (late[:, 3] <= now)]
    for page in book.pages:
        last = until if page is book.pages[-1] else len(page.at)
        first, new = np.searchsorted(page.at[:last], (since - page.longest_s, since), side="right")
        plain = ~page.apart[first:last]
        at_once += np.bincount(page.rank[new:last][plain[new - first :]], minlength=len(RANKS))
        end = page.end[first:last]
        ranks.append(page.rank[first:last].astype(np.float64))
        latencies.append(page.service_s[first:last])
        ended.append(plain & (end > since) & (end <= now))
    seen = np.concatenate(ended)
    rank, latency = np.concatenate(ranks)[seen], np.concatenate(latencies)[seen]
    waits = started[:, 2] - started[:, 1]
    return (
        [p99(waits[started[:, 0] == r], int(at_once[r])) for r in RANKS],
        [p99(latency[rank == r]) for r in RANKS],
    )
