"""What became of the requests of one front door, reduced to figures a page at a time.

A plain request (started the instant it came, on an engine at full speed) leaves no trace in the
loop: whatever is not set `apart` was plain, so arrays give its figures. The rest is written down as
it starts. Nothing is kept per request beyond the last pages, so a day costs no more than an hour.
"""

from collections import Counter, deque
from math import inf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.reasons import ReasonCode
from controlplane.simulation.world.source import FEW, RANKS, N, Page
from controlplane.simulation.world.tally import ClassTally

WINDOW_S = 15.0  # what percentiles are taken over: nothing older is kept

# A request that was not plain, for it waited or its engine was slow: arrived, started, end.
Start: TypeAlias = tuple[float, float, float]
Rows: TypeAlias = NDArray[np.float64]  # three rows: arrived, started, end


class Book:
    """Counts, waits and latencies of one model. Times are seconds since the world's start."""

    def __init__(self, wait_limits: tuple[float, ...]) -> None:
        """Start with nothing; `wait_limits` by rank, infinite where nothing is promised."""
        self.wait_limits = wait_limits
        self.by_rank = tuple(ClassTally() for _ in PRIORITIES)
        self.busy_s = 0.0
        self.service_s = 0.0  # seconds of all that started
        self.started = 0
        self.turned_away = [0 for _ in PRIORITIES]  # for want of capacity
        self.by_turn = tuple(
            Counter[ReasonCode]() for _ in PRIORITIES
        )  # why those began who waited
        self.first_breach = inf
        self.apart: list[int] = []  # of the newest page: not plain; cleared by `count`
        self.starts: tuple[list[float], ...] = tuple([] for _ in PRIORITIES)  # flat; … likewise
        self.recent_starts: tuple[deque[Rows], ...] = tuple(deque() for _ in PRIORITIES)
        self.pages: deque[Page] = deque()
        self._forgotten = -inf
        self._counted = 0  # up to this index of the newest page the counters are right
        self._reduced = 0  # … and the waits and latencies
        self._refusals: tuple[list[ReasonCode], ...] = tuple([] for _ in PRIORITIES)
        self._unreduced: tuple[list[Rows], ...] = tuple([] for _ in PRIORITIES)

    def open(self, page: Page) -> None:
        """Go on to the next page; the one before is fully counted."""
        self.pages.append(page)
        self._counted = self._reduced = 0

    def turn_away(self, rank: int, code: ReasonCode, at: float) -> None:
        """Note a request that was sent away for want of capacity."""
        self.turned_away[rank] += 1
        self._refusals[rank].append(code)
        if self.first_breach == inf:  # what broke before is known by now, and was earlier
            self.first_breach = at

    def turn_more_away(self, rank: int, code: ReasonCode, count: int) -> None:
        """Note so many more of the same, none of them the first."""
        self.turned_away[rank] += count
        self._refusals[rank].extend([code] * count)

    def refuse(self, rank: int, code: ReasonCode) -> None:
        """Note a request that was sent away for what it is."""
        self._refusals[rank].append(code)

    def refused(self) -> list[dict[ReasonCode, int]]:
        """Give how many were sent away so far, by rank and reason."""
        for rank in RANKS:
            self._reduce_refusals(rank)
        return [dict(tally.rejected) for tally in self.by_rank]

    def waits_since(self, arrived: float, rank: int, now: float) -> None:
        """Look at a request that still waits: it may have broken its limit already."""
        broken = arrived + self.wait_limits[rank]
        if broken <= now:
            self.first_breach = min(self.first_breach, broken)

    def count(self, until: int) -> None:
        """Bring the counters up to this index of the newest page. Done at every look: cheap."""
        if until > self._counted:
            page, first = self.pages[-1], self._counted
            self._counted = until
            for rank, arrived in enumerate(_by_rank(page, first, until)):
                self.by_rank[rank].arrived += arrived
            # Whoever was set apart since the last look is among those who came since.
            waited = 0.0
            if self.apart:
                page.apart[self.apart] = True
                waited = sum(page.service_s[self.apart].tolist())
            self._add_work(until - first - len(self.apart), _sum(page, first, until) - waited)
            self.apart.clear()
        for rank, starts in enumerate(self.starts):
            if starts:
                rows = np.array(starts).reshape(-1, 3).T
                starts.clear()
                self.recent_starts[rank].append(rows)
                self._unreduced[rank].append(rows)
                self._add_work(rows.shape[1], float(rows[2].sum() - rows[1].sum()))

    def _add_work(self, started: int, seconds: float) -> None:
        self.started += started
        self.service_s += seconds
        self.busy_s += seconds

    def reduce(self, until: int) -> None:
        """Bring waits, latencies and what follows from them up to this index of the newest page."""
        self.count(until)
        if until > self._reduced:
            stretch = slice(self._reduced, until)
            self._reduced = until
            page = self.pages[-1]
            plain = ~page.apart[stretch]
            ranks, service_s = page.rank[stretch][plain], page.service_s[stretch][plain]
            for rank in RANKS:
                own = service_s[ranks == rank]
                tally = self.by_rank[rank]
                tally.served += len(own)
                tally.in_time += len(own)
                tally.wait.add_zeros(len(own))
                tally.latency.add(own)
        for rank in RANKS:
            if self._refusals[rank]:
                self._reduce_refusals(rank)
            if self._unreduced[rank]:
                self._reduce_rows(rank, np.concatenate(self._unreduced[rank], axis=1))
                self._unreduced[rank].clear()

    def _reduce_refusals(self, rank: int) -> None:
        rejected = self.by_rank[rank].rejected
        for code, refused in Counter(self._refusals[rank]).items():
            rejected[code] = rejected.get(code, 0) + refused
        self._refusals[rank].clear()

    def _reduce_rows(self, rank: int, rows: Rows, sign: int = 1) -> None:
        arrived, started, end = rows
        wait = started - arrived
        in_time = wait <= self.wait_limits[rank]
        tally = self.by_rank[rank]
        tally.served += sign * len(wait)
        tally.in_time += sign * int(in_time.sum())
        tally.wait.add(wait, sign)
        tally.latency.add(end - arrived, sign)
        if not in_time.all():
            broken = float(arrived[~in_time].min()) + self.wait_limits[rank]
            self.first_breach = min(self.first_breach, broken)

    def cut_off(self, cut: list[tuple[int, Start]], now: float, until: int) -> None:
        """Take back requests that had a slot when their engine ended: they failed."""
        if not cut:
            return
        self.reduce(until)
        for rank, start in cut:
            self._reduce_rows(rank, np.array([start]).T, sign=-1)
            self.by_rank[rank].failed += 1
            self.busy_s -= start[2] - now
            self._forget(rank, start)

    def _forget(self, rank: int, start: Start) -> None:
        """Keep a cut-off request out of the latencies seen."""
        arrived, _, end = start
        for page in self.pages:
            first = int(np.searchsorted(page.at, arrived))
            last = int(np.searchsorted(page.at, arrived, side="right"))
            same = (page.end[first:last] == end) & ~page.apart[first:last]
            if same.any():
                page.apart[first + int(np.argmax(same))] = True
                return
        for rows in self.recent_starts[rank]:
            rows[2, (rows[0] == arrived) & (rows[2] == end)] = -inf

    def forget_before(self, moment: float) -> None:
        """Drop pages and starts of which nothing ended after that moment; now and then suffices."""
        if moment < self._forgotten + WINDOW_S:
            return
        self._forgotten = moment
        pages = self.pages
        while len(pages) > 1 and pages[0].last_end < moment:
            pages.popleft()
        for starts in self.recent_starts:
            while starts and float(starts[0][2].max()) < moment:
                starts.popleft()


def _sum(page: Page, first: int, until: int) -> float:
    """Add the seconds; the numbers of a list lie all over the memory, an array's side by side."""
    if until - first > FEW:
        return float(page.service_s[first:until].sum())
    seconds: list[float] = page.service_s[first:until].tolist()
    return sum(seconds)


def _by_rank(page: Page, first: int, until: int) -> list[int]:
    """Count requests by rank."""
    if until - first > FEW:
        counts: list[int] = np.bincount(page.rank[first:until], minlength=N).tolist()
        return counts
    ranks = page.rank[first:until].tolist()
    return [ranks.count(rank) for rank in RANKS]
