"""Live reload: a changed fleet file is validated and put in force, or refused whole.

A bad new file changes nothing: the old one stays in force, and the page says so with the file's
faults until a good one comes.
"""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from controlplane.decide.reload import Candidate, decide_reload
from controlplane.domain.decisions import Choice, Ending, Outcome
from controlplane.loops.reconcile import Loop

EVERY_S = 5.0


class CatalogueSeen(msgspec.Struct, frozen=True):
    """One look at the file; None: it is as it was."""

    candidate: Candidate | None


class CatalogueMemory(msgspec.Struct, frozen=True):
    """Reloading remembers nothing: the versions are in the store."""


def catalogue_loop(
    look: Callable[[], Candidate | None],
    apply: Callable[[str, str], Awaitable[None]],
    refuse: Callable[[tuple[str, ...]], None],
) -> Loop[CatalogueSeen, CatalogueMemory]:
    """Build the loop; `apply` gets text and source, `refuse` the faults people should see."""

    async def observe() -> CatalogueSeen:
        # A large file takes seconds to read: beside the event loop, not on it.
        return CatalogueSeen(await asyncio.to_thread(look))

    def decide(
        seen: CatalogueSeen, memory: CatalogueMemory
    ) -> tuple[tuple[Choice, ...], CatalogueMemory]:
        return ((decide_reload(seen.candidate),) if seen.candidate else ()), memory

    async def act(choice: Choice) -> Outcome:
        await apply(choice.seen.text, choice.seen.source)
        return Outcome(Ending.DONE, "in force")

    def note(seen: CatalogueSeen, _choices: object, _memory: CatalogueMemory) -> None:
        if seen.candidate is not None and seen.candidate.faults:
            refuse(seen.candidate.faults)

    return Loop(
        name="catalogue",
        every_s=EVERY_S,
        observe=observe,
        decide=decide,
        act=act,
        fresh=CatalogueMemory(),
        seen=note,
    )
