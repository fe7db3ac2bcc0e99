"""The requests still to come at one front door, a page of them at a time.

A page keeps arrays. Whoever looks at requests one by one takes a list of just those, since Python
handles a list's numbers several times faster than an array's.
"""

from collections.abc import Iterator
from math import inf

import numpy as np
from numpy.typing import NDArray

from controlplane.domain.priorities import PRIORITIES
from controlplane.simulation.traffic import Chunk, Traffic

PAGE = 32768  # requests at most; bounds memory, changes no result
JOINED = 1024  # requests at least, unless the traffic is over
FEW = 500  # requests below which lists are faster than arrays
N = len(PRIORITIES)
RANKS = range(N)


class Page:
    """A stretch of requests and what became of the plain ones: started at once, as long as said."""

    __slots__ = (
        "_by_end",
        "_ties",
        "apart",
        "at",
        "end",
        "ended",
        "ends",
        "longest_s",
        "order",
        "output",
        "present",
        "prompt",
        "rank",
        "service_s",
    )

    def __init__(self, chunk: Chunk) -> None:
        """Take a stretch of traffic."""
        self.at = chunk.at
        self.rank = chunk.rank
        self.service_s = chunk.service_s
        self.longest_s = float(chunk.service_s.max(initial=0.0))
        self.prompt = chunk.prompt_tokens
        self.output = chunk.output_tokens
        self.end: NDArray[np.float64] = chunk.at + chunk.service_s
        self.apart: NDArray[np.bool_] = np.zeros(len(chunk.at), dtype=np.bool_)
        self.order = np.argsort(self.end)
        self.ends = self.end[self.order]
        self.ended = self.ends.searchsorted(self.at, "right")
        self.present = np.arange(len(self.at)) - self.ended
        self._ties = np.unique(
            np.concatenate(
                (self.ends[:-1][self.ends[1:] == self.ends[:-1]], self.at[self.end <= self.at])
            )
        )
        # By class and end, so that what ended lately is one slice.
        self._by_end: list[tuple[NDArray[np.intp], NDArray[np.float64]]] = []
        for rank in RANKS:
            own = self.order[self.rank[self.order] == rank]
            self._by_end.append((own, self.end[own]))

    @property
    def last_end(self) -> float:
        """When the last of its plain requests ends."""
        return float(self.ends[-1]) if len(self.ends) else -inf

    def distinct(self, first: int, stop: int) -> int:
        """Give the index up to which no two plain ends fall together from `first` on."""
        if not len(self._ties):
            return stop
        following = self._ties.searchsorted(self.at[first])
        if following == len(self._ties):
            return stop
        return min(stop, int(self.at.searchsorted(self._ties[following])))

    def latencies(self, rank: int, since: float, now: float) -> NDArray[np.float64]:
        """Give the latencies of a class's plain requests that ended after `since`, up to `now`."""
        indices, ends = self._by_end[rank]
        first, last = ends.searchsorted(since, "right"), ends.searchsorted(now, "right")
        ended = indices[first:last]
        return self.service_s[ended[~self.apart[ended]]]

    def at_once(self, since: float, until: int) -> NDArray[np.intp]:
        """Count by rank the plain requests that came after `since`, before index `until`."""
        first = int(self.at.searchsorted(since, "right"))
        plain = self.rank[first:until][~self.apart[first:until]]
        return np.bincount(plain, minlength=N)


class Source:
    """A cursor over a model's traffic."""

    __slots__ = ("_chunks", "index", "page", "prompts", "tokens")

    def __init__(self, traffic: Traffic | None) -> None:
        """Open the traffic; None brings no requests."""
        self._chunks = _pages(traffic) if traffic is not None else iter(())
        self.page = Page(_NOTHING)
        self.index = 0  # of the next request, within the page
        self.prompts: list[int] | None = None
        self.tokens: list[int] | None = None  # prompt and output together
        self.turn()

    def turn(self) -> bool:
        """Go on to the next page; False when the traffic is over."""
        chunk = next(self._chunks, None)
        if chunk is None:
            return False
        self.page = page = Page(chunk)
        self.index = 0
        self.prompts = self.tokens = None
        if page.prompt is not None:
            total = page.prompt if page.output is None else page.prompt + page.output
            self.prompts, self.tokens = page.prompt.tolist(), total.tolist()
        return True

    @property
    def used_up(self) -> bool:
        """Say whether every request of the page has arrived."""
        return self.index >= len(self.page.at)

    def until(self, to: float) -> int:
        """Give the index after the last request of the page that arrives by then."""
        return max(self.index, int(self.page.at.searchsorted(to, "right")))

    def arrival(self, ahead: int) -> float:
        """Give when the request so many after the next one arrives; no later than that for sure."""
        if self.used_up:
            return inf
        at = self.page.at
        return float(at[min(self.index + ahead, len(at) - 1)])


_NOTHING = Chunk(np.zeros(0), np.zeros(0, np.int8), np.zeros(0))


def _pages(traffic: Traffic) -> Iterator[Chunk]:
    """Cut big chunks and join small ones: how traffic is chunked must cost nothing either."""
    pending: list[Chunk] = []
    for chunk in traffic.chunks():
        pending.append(chunk)
        if sum(len(c.at) for c in pending) >= JOINED:
            yield from _cut(pending)
            pending.clear()
    if pending:
        yield from _cut(pending)


def _cut(chunks: list[Chunk]) -> Iterator[Chunk]:
    at = np.concatenate([c.at for c in chunks])
    rank = np.concatenate([c.rank for c in chunks])
    service_s = np.concatenate([c.service_s for c in chunks])
    prompt = _tokens([c.prompt_tokens for c in chunks])
    output = _tokens([c.output_tokens for c in chunks])
    for first in range(0, len(at), PAGE):
        cut = slice(first, first + PAGE)
        yield Chunk(
            at[cut],
            rank[cut],
            service_s[cut],
            None if prompt is None else prompt[cut],
            None if output is None else output[cut],
        )


def _tokens(columns: list[NDArray[np.int32] | None]) -> NDArray[np.int32] | None:
    """Join token counts; traffic has them in every chunk or in none."""
    given = [column for column in columns if column is not None]
    return np.concatenate(given) if len(given) == len(columns) else None
