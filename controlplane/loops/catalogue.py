"""Live reload: a changed fleet file is validated and put in force, or refused whole.

A bad new file changes nothing: the old one stays in force, and the page says so with the file's
faults until a good one comes.
"""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from controlplane.domain.actions import ApplyCatalogue
from controlplane.domain.decisions import Choice, Ending, Outcome, Target
from controlplane.domain.overrides import FLEET
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.loops.reconcile import Loop

EVERY_S = 5.0


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A fleet file's text as it was found changed, and its faults, if any."""

    text: str
    source: str
    version: int  # in force when it was found
    models: int  # in force when it was found
    models_then: int = 0
    faults: tuple[str, ...] = ()


class CatalogueSeen(msgspec.Struct, frozen=True):
    """One look at the file; None: it is as it was."""

    candidate: Candidate | None


class CatalogueMemory(msgspec.Struct, frozen=True):
    """Reloading remembers nothing: the versions are in the store."""


def decide_catalogue(seen: Candidate) -> Choice:
    """Apply a sound file, refuse a faulty one; the figure is the number of models."""
    target = Target(seen.models)
    source = Evidence("source", seen.source)
    if seen.faults:
        faults = (Evidence("faults", len(seen.faults)), Evidence("first", seen.faults[0]))
        target = target.note(ReasonCode.CATALOGUE_REFUSED, source, *faults)
    else:
        replaced = Evidence("replaces", seen.version)
        target = target.move(seen.models_then, ReasonCode.CATALOGUE_APPLIED, source, replaced)
    return Choice(
        subject=FLEET,
        current=seen.models,
        target=target.replicas,
        trail=target.trail,
        actions=() if seen.faults else (ApplyCatalogue(seen.source),),
        seen=seen,
    )


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
        return ((decide_catalogue(seen.candidate),) if seen.candidate else ()), memory

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
