"""Setting pauses, pins and isolations from the command line: straight into the store.

It works with the daemon down, and at once with the daemon up: loops read what people set in every
cycle. The store notes who did it.
"""

from collections.abc import Callable, Iterator

import click
import msgspec

from controlplane.adapters.sql.opening import open_store
from controlplane.cli import stored
from controlplane.cli.stored import catalogued, place, who
from controlplane.clock import wall
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.overrides import FLEET, Override, Overrides

Alter = Callable[[Override, Catalogue | None], Override]


def subject_of(model: str | None, whole_fleet: bool) -> str:
    """Give the model that was named, or the fleet; exactly one must be."""
    if (model is None) != whole_fleet:
        raise click.UsageError("name one MODEL, or give --all")
    return FLEET if model is None else model


async def override(
    data: str | None, subject: str, alter: Alter, *, uncatalogued: bool = False
) -> tuple[Override, Overrides]:
    """Change what is set for a subject; give what is set now, and everything in force.

    With `uncatalogued` a store that never saw a catalogue takes any name: a gateway may run alone.
    """
    async with open_store(place(data), create=True) as store:
        any_name = subject == FLEET or (uncatalogued and await stored.in_force(store) is None)
        catalogue = None if any_name else await catalogued(store, subject)
        held = (await store.overrides.overrides()).get(subject)
        before = held or Override(subject=subject, by=who(), at=wall())
        after = msgspec.structs.replace(alter(before, catalogue), by=who(), at=wall())
        await store.overrides.put(after)
        return after, await store.overrides.overrides()


def called(subject: str) -> str:
    """Name a subject for people."""
    return "all models" if subject == FLEET else subject


def in_force(subject: str, overrides: Overrides) -> Iterator[str]:
    """Say all that now holds a subject: nobody should wonder why it still does not move."""
    for name, held in sorted(overrides.items()):
        if FLEET in {name, subject} or name == subject:
            if held.paused:
                yield f"  in force: {called(name)} paused by {held.by}"
            if held.pinned is not None:
                yield f"  in force: {called(name)} pinned at {held.pinned} by {held.by}"
            if held.isolated is not None:
                why = f": {held.isolated.why}" if held.isolated.why else ""
                yield f"  in force: {called(name)} isolated by {held.isolated.by}{why}"
