"""The newest decisions about every model, without reading the whole journal each tick.

A look reads the newest rows once and remembers the rest. Rows that were not among the newest may
still count repeats, so a few of them are read again each time, in turn.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from controlplane.http.state import State
from controlplane.ports import DecisionQuery, DecisionRow

LOOP = "scaling"
ACTS = "spare"  # the loop that makes it so in the cluster
STANDING = "workloads"  # the loop that says what of a model's objects cannot stand
NEWEST = 100
AGAIN = 20  # remembered rows read again per look


class Remembered:
    """The newest row by subject, kept between looks."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self.rows: dict[str, DecisionRow | None] = {}
        self._turn = 0

    def next_few(self, besides: set[str]) -> Sequence[str]:
        """Name the subjects to be read again now."""
        old = [subject for subject in self.rows if subject not in besides]
        if not old:
            return ()
        start = self._turn % len(old)
        self._turn += AGAIN
        return (old[start:] + old[:start])[:AGAIN]


async def latest(state: State) -> Mapping[str, DecisionRow]:
    """Give the newest scaling decision by model; a model that was never decided is not in it."""
    return await state.shared.once("latest", 0.8, lambda: _look(state))


async def _look(state: State) -> Mapping[str, DecisionRow]:
    remembered = state.shared.thing("latest", Remembered)
    newest: dict[str, DecisionRow] = {}
    for row in await state.decisions.decisions(DecisionQuery(loop=LOOP, limit=NEWEST)):
        newest.setdefault(row.subject, row)
    remembered.rows.update(newest)
    models = state.in_force.catalogue.models
    never_read = [name for name in models if name not in remembered.rows]
    for subject in (*never_read, *remembered.next_few(set(newest))):
        remembered.rows[subject] = await newest_of(state, subject)
    for gone in remembered.rows.keys() - models.keys():
        del remembered.rows[gone]
    return {subject: row for subject, row in remembered.rows.items() if row is not None}


async def newest_of(state: State, subject: str) -> DecisionRow | None:
    """Give one model's newest scaling decision."""
    rows = await state.decisions.decisions(DecisionQuery(loop=LOOP, subject=subject, limit=1))
    return rows[0] if rows else None


class Written(NamedTuple):
    """The newest decisions that write to the cluster, by subject."""

    standing: Mapping[str, DecisionRow] = MappingProxyType({})  # about the objects in it
    acted: Mapping[str, DecisionRow] = MappingProxyType({})  # about sizes and lanes


NONE_WRITTEN = Written()


async def written(state: State) -> Written:
    """Give the newest decision of each kind about each subject."""
    return Written(*[await _newest(state, loop) for loop in (STANDING, ACTS)])


async def _newest(state: State, loop: str) -> Mapping[str, DecisionRow]:
    rows = await state.decisions.decisions(DecisionQuery(loop=loop, limit=NEWEST))
    return {row.subject: row for row in reversed(rows)}
