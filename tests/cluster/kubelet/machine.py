"""What pods share: all nodes are one machine, and each has images and a voice of its own."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.api import Manifest

_BYTES = 15_000_000_000  # an engine's image; the scheduler prefers nodes that have it


class Images:
    """The images of one node. The first pod that wants one waits for it, others wait with it."""

    def __init__(self, pull_s: float, changed: Callable[[], None]) -> None:
        self._pull_s = pull_s
        self._changed = changed
        self._pulls: dict[str, asyncio.Task[None]] = {}

    async def fetched(self, image: str) -> None:
        """Await that an image is here."""
        if image not in self._pulls:
            self._pulls[image] = pull = asyncio.create_task(asyncio.sleep(self._pull_s))
            pull.add_done_callback(lambda _: self._changed())
        await asyncio.shield(self._pulls[image])

    def status(self) -> list[Manifest]:
        """Say which are here, in the words of a node's status."""
        here = [image for image, pull in self._pulls.items() if pull.done()]
        return [{"names": [image], "sizeBytes": _BYTES} for image in here]


@dataclass(frozen=True)
class Machine:
    """Where pods have their files, and whom they trust."""

    pods: Path
    authority: Path  # who signed the API server's certificate


@dataclass(frozen=True)
class Seat:
    """Where a pod sits: a node's address, its images, and whether it may speak."""

    machine: Machine
    host: str
    images: Images
    voice: asyncio.Event  # set while the node may speak to the API server
