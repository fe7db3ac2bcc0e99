"""A store with something in it, and what people set in it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.store import Store
from controlplane.decide.scaling.decision import decide_scale
from controlplane.domain.overrides import Overrides
from tests.builders import NOW, a_class_load, a_load, an_input
from tests.settings.fleet_text import SMALL
from tests.stored import T0, a_hold, a_raise

MODEL = "classifier"  # the one model of SMALL
Said: TypeAlias = Callable[..., tuple[int, str, str]]


def fill(folder: Path, world: str = "embedded-1") -> list[int]:
    """A catalogue in force, a hold counted twice, a raise that was refused, a real decision."""

    async def write(store: Store) -> list[int]:
        await store.catalogues.add(SMALL, "fleet.yaml", "start", T0)
        pressed = an_input(a_load(high=a_class_load(400.0, queue=900.0)))
        rows: list[int] = []
        for loop, choice in (
            ("scaling", a_hold(MODEL)),
            ("scaling", a_hold(MODEL)),
            ("spare", a_raise(MODEL)),
            ("scaling", decide_scale(pressed)),
        ):
            opened = await store.journal.open(loop, [choice], NOW, 1)
            rows += [row for row in opened if row is not None]
        return rows

    return asyncio.run(_with(folder, world, write))


async def _with(folder: Path, world: str | None, work: Callable[[Store], Any]) -> Any:
    async with open_store(folder, world, create=True) as store:
        return await work(store)


def in_force(folder: Path) -> Overrides:
    async def read(store: Store) -> Overrides:
        return await store.overrides.overrides()

    found: Overrides = asyncio.run(_with(folder, None, read))
    return found
