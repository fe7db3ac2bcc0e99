"""Requests that come and go while nobody waits: passed with arrays, not one after the other.

As long as a slot is free for whoever comes, every request starts as it arrives and ends as long
after as it says. So a page's ends are known beforehand, how many run at each arrival is a count,
and the first who would have to wait can be found without passing those before. Slots go round in
a queue: the n-th start takes the slot that was put back n-th, so which slot is whose follows from
the order of the ends alone.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from controlplane.simulation.world.slots import Run
from controlplane.simulation.world.source import RANKS, Page

AHEAD = 1024  # requests looked at at once


class Passed(NamedTuple):
    """What a stretch left behind."""

    runs: list[Run]
    free: list[int]  # slots, in turn
    held: list[int]  # by rank: how many slots more are held than before


class Stretch:
    """Requests of a page from an index on, while nobody waits. `runs` in order of their ends."""

    def __init__(self, page: Page, first: int, runs: Sequence[Run]) -> None:
        """Begin before the request at `first` with what runs on slots in service."""
        self._page = page
        self._first = first
        self._runs = runs
        self._ends = np.array([run[0] for run in runs])

    def reach(self, stop: int, free: int, at_once: Sequence[int]) -> int:
        """Give the index of the first request that finds too few slots free, `stop` at most."""
        page, first = self._page, self._first
        stop = min(page.distinct(first, stop), first + AHEAD)
        if stop <= first:
            return first
        at = page.at[first:stop]
        # As if all of the page had been plain; then what runs longer, or not at all, is mended.
        now = at[0]
        plain = page.end[page.at.searchsorted(now - page.longest_s) : first]
        plain = plain[plain > now]
        later = np.bincount(at.searchsorted(self._ends), minlength=len(at) + 1)
        later -= np.bincount(at.searchsorted(plain), minlength=len(at) + 1)
        busy = page.present[first:stop] - np.cumsum(later)[:-1]
        busy += len(self._ends) - len(plain)
        slots = free + len(self._ends)
        room = np.array([slots - kept for kept in at_once])
        short = busy >= room[page.rank[first:stop]]
        until = int(short.argmax())
        return first + until if short[until] else stop

    def through(self, until: int, free: Iterable[int]) -> Passed | None:
        """Pass all before `until`; None where ends fall together, so that slots decide."""
        page, first, runs = self._page, self._first, self._runs
        last = page.at[until - 1]
        ended = int(self._ends.searchsorted(last, "right"))
        # Of the page's ends in this time, those of requests of this stretch.
        due = slice(page.ended[first], page.ended[until - 1])
        mine = page.order[due] >= first
        ends = np.concatenate((self._ends[:ended], page.ends[due][mine]))
        starts = np.concatenate((np.arange(ended), page.order[due][mine] + (len(runs) - first)))
        in_turn = ends.argsort(kind="stable")
        ends = ends[in_turn]
        if (ends[1:] == ends[:-1]).any():
            return None
        slots = np.array([*(run[1] for run in runs), *free])
        taken = slots[_rounds(starts[in_turn], len(slots))]
        alive = first + np.flatnonzero(page.end[first:until] > last)
        at, ranks = page.at[alive].tolist(), page.rank[alive].tolist()
        began = zip(
            page.end[alive].tolist(),
            taken[alive + (len(runs) - first)].tolist(),
            ranks,
            at,
            at,
            strict=True,
        )
        over = [run[2] for run in runs[:ended]]
        return Passed(
            [*runs[ended:], *began],
            taken[len(runs) + until - first :].tolist(),
            [ranks.count(rank) - over.count(rank) for rank in RANKS],
        )


def _rounds(ended: NDArray[np.intp], slots: int) -> NDArray[np.intp]:
    """Say with which of the first `slots` places each place in the queue shares its slot.

    The first places are given; each of the others is the slot of the start that `ended` names.
    """
    origin = np.concatenate((np.arange(slots), ended))
    while origin.max(initial=0) >= slots:
        origin = origin[origin]
    return origin
