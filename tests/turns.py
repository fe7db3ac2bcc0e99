"""Whether the event loop is held up: how often somebody else gets a turn meanwhile."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Turns:
    """How many turns others got so far."""

    got: int = 0

    async def take(self) -> None:
        """Take one after the other, for ever."""
        while True:
            self.got += 1
            await asyncio.sleep(0)


@contextmanager
def turns_of_others() -> Iterator[Turns]:
    """Count until the block ends."""
    turns = Turns()
    task = asyncio.create_task(turns.take())
    try:
        yield turns
    finally:
        task.cancel()
