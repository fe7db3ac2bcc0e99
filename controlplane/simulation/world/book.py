"""What became of the requests of one front door, reduced to figures a page at a time.

A plain request (started the instant it came, on an engine at full speed) leaves no trace in the
loop: whatever is not set `apart` was plain, so arrays give its figures. The rest is written down as
it starts. Nothing is kept per request beyond the last pages, so a day costs no more than an hour.
"""

from collections import deque
from math import inf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.reasons import ReasonCode
from controlplane.simulation.world.source import Page
from controlplane.simulation.world.tally import ClassTally

N = len(PRIORITIES)
RANKS = range(N)


# A request that was not plain, for it waited or its engine was slow: rank, arrived, started, end.
Start: TypeAlias = tuple[int, float, float, float]


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
        self.first_breach = inf
        self.apart: list[int] = []  # numbers of requests that were not plain; cleared by `count`
        self.starts: list[Start] = []  # cleared by `count`
        self.recent_starts: deque[NDArray[np.float64]] = deque()
        self.pages: deque[Page] = deque()
        self._counted = 0  # up to this index of the newest page the counters are right
        self._reduced = 0  # … and the waits and latencies
        self._unreduced: list[NDArray[np.float64]] = []

    def open(self, page: Page) -> None:
        """Go on to the next page; the one before is fully counted."""
        self.pages.append(page)
        self._counted = self._reduced = 0

    def refuse(self, rank: int, code: ReasonCode, at: float, *, want: bool = True) -> None:
        """Note a request that was sent away, for want of capacity or for what it is."""
        rejected = self.by_rank[rank].rejected
        rejected[code] = rejected.get(code, 0) + 1
        if want:
            self.turned_away[rank] += 1
            self.first_breach = min(self.first_breach, at)

    def waits_since(self, arrived: float, rank: int, now: float) -> None:
        """Look at a request that still waits: it may have broken its limit already."""
        broken = arrived + self.wait_limits[rank]
        if broken <= now:
            self.first_breach = min(self.first_breach, broken)

    def mark(self) -> None:
        """Mark on the pages which requests were not plain."""
        if not self.apart:
            return
        numbers = np.array(self.apart)
        self.apart.clear()
        for page in self.pages:
            here = numbers - page.base
            page.apart[here[(here >= 0) & (here < len(page.at))]] = True

    def count(self, until: int) -> None:
        """Bring the counters up to this index of the newest page. Done at every look: cheap."""
        self.mark()
        if until > self._counted:
            stretch = slice(self._counted, until)
            self._counted = until
            page = self.pages[-1]
            for rank, arrived in enumerate(np.bincount(page.rank[stretch], minlength=N).tolist()):
                self.by_rank[rank].arrived += arrived
            plain = ~page.apart[stretch]
            self._add_work(int(plain.sum()), float(page.service_s[stretch] @ plain))
        if self.starts:
            rows = np.array(self.starts)
            self.starts.clear()
            self.recent_starts.append(rows)
            self._unreduced.append(rows)
            self._add_work(len(rows), float((rows[:, 3] - rows[:, 2]).sum()))

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
        if self._unreduced:
            self._reduce_rows(np.concatenate(self._unreduced))
            self._unreduced.clear()

    def _reduce_rows(self, rows: NDArray[np.float64], sign: int = 1) -> None:
        for rank in RANKS:
            _, arrived, started, end = rows[rows[:, 0] == rank].T
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

    def cut_off(self, cut: list[Start], now: float, until: int) -> None:
        """Take back requests that had a slot when their engine ended: they failed."""
        if not cut:
            return
        self.reduce(until)
        rows = np.array(cut)
        self._reduce_rows(rows, sign=-1)
        self.busy_s -= float((rows[:, 3] - now).sum())
        for rank, arrived, _, end in cut:
            self.by_rank[rank].failed += 1
            self._forget(arrived, end)

    def _forget(self, arrived: float, end: float) -> None:
        """Keep a cut-off request out of the latencies seen."""
        for page in self.pages:
            first = int(np.searchsorted(page.at, arrived))
            last = int(np.searchsorted(page.at, arrived, side="right"))
            same = page.end[first:last] == end
            if same.any():
                page.apart[first + int(np.argmax(same))] = True
                return
        for rows in self.recent_starts:
            same = (rows[:, 1] == arrived) & (rows[:, 3] == end)
            rows[same, 3] = inf

    def forget_before(self, moment: float) -> None:
        """Drop pages and starts of which nothing ended after that moment."""
        pages = self.pages
        while len(pages) > 1 and pages[0].last_end < moment:
            pages.popleft()
        starts = self.recent_starts
        while starts and float(starts[0][:, 3].max()) < moment:
            starts.popleft()
