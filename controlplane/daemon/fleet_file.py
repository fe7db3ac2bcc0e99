"""The fleet file in the daemon's hands: read at the start, watched, applied, refused.

Three ways lead to a new catalogue: the file changed, somebody applied a text over the API, the
daemon started. All end in `Applying`, so all leave a version in the store and swap one reference.
Daemons that share a store follow the versions that another of them put there.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NoReturn

import structlog

from controlplane.clock import Clock
from controlplane.decide.reload import Candidate
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.faults import FaultsError
from controlplane.http.state import CatalogueInForce
from controlplane.loops.fleet import Fleet
from controlplane.ports import CatalogueStore, CatalogueVersion, UnavailableError
from controlplane.settings import FileWatch, parse_catalogue, written_text
from controlplane.shipped import shipped

EXAMPLE = "fleet.yaml"
FOLLOWS_EVERY_S = 2.0

log = structlog.stdlib.get_logger(__name__)


class FleetFile:
    """A fleet file, or the example that ships with the product where none is named."""

    def __init__(self, path: Path | None) -> None:
        """Name the file; nothing is read yet."""
        self.path = path or shipped("examples") / EXAMPLE
        self.name = str(path) if path else f"example {EXAMPLE}"
        self._watch = FileWatch(self.path)
        self._found: str | None = None  # read and not settled yet
        self._faults: tuple[str, ...] = ()  # of the text that was settled last
        self._force: CatalogueInForce | None = None

    def read(self) -> str:
        """Give the text; FaultsError when the file cannot be read."""
        text = written_text(self.path)
        self._watch = FileWatch(self.path, text)
        return text

    def put(self, catalogue: Catalogue, version: CatalogueVersion) -> None:
        """Put a catalogue in force; the faults of a file that was refused are over."""
        if self._force is None:
            self._force = CatalogueInForce(catalogue, version)
        self._force.catalogue, self._force.version = catalogue, version
        self._force.faults, self._force.refused_at = (), None
        self._faults = ()

    @property
    def force(self) -> CatalogueInForce:
        """What is in force; there is none before the start has put one."""
        if self._force is None:
            raise RuntimeError("no catalogue was put in force")
        return self._force

    def look(self) -> Candidate | None:
        """Look whether the file changed; a changed one comes validated."""
        force = self.force
        self._found = None
        try:
            text = self._found = self._watch.changed()
            if text == force.version.text:  # it came another way: over the API, by another daemon
                self.settle()
                text = None
            if text is None:
                self._back(force)
                return None
            then = parse_catalogue(text, self.name)
            faults: tuple[str, ...] = ()
        except FaultsError as error:
            text, then, faults = "", force.catalogue, tuple(str(f) for f in error.faults)
            if faults == force.faults:
                self.settle(faults)
                return None  # said already
        return Candidate(
            text=text,
            source=self.name,
            version=force.version.version,
            models=len(force.catalogue.models),
            models_then=len(then.models),
            faults=faults,
        )

    def refuse(self, faults: tuple[str, ...], at: float) -> None:
        """Remember why the newest file is not in force, and tell who reads the log."""
        version = self.force.version.version
        log.warning("the fleet file is refused", in_force=version, faults=faults)
        self.force.faults, self.force.refused_at = faults, at
        self.settle(faults)

    def settle(self, faults: tuple[str, ...] = ()) -> None:
        """Take note that what was found is dealt with; until then every look finds it again."""
        if self._found is not None:
            self._watch.settle(self._found)
            self._faults = faults

    def _back(self, force: CatalogueInForce) -> None:
        """The file is as it was settled: one that could not be read for a while is over."""
        if force.faults != self._faults:
            force.faults = self._faults
            force.refused_at = force.refused_at if self._faults else None


class Applying:
    """Validates a text, stores its version and swaps it in."""

    def __init__(
        self,
        file: FleetFile,
        store: CatalogueStore,
        fleet: Fleet,
        clock: Clock,
        tell: Callable[[Catalogue], Awaitable[None]],
    ) -> None:
        """Apply to this fleet; `tell` lets the cluster's side know."""
        self._file = file
        self._store = store
        self._fleet = fleet
        self._clock = clock
        self._tell = tell

    async def __call__(self, text: str, source: str, by: str) -> CatalogueVersion:
        """Apply a text; FaultsError with one line per fault, and then nothing has changed."""
        catalogue = await asyncio.to_thread(parse_catalogue, text, source)
        version = await self._store.add(text, source, by, self._clock.now())
        self._fleet.swap(catalogue)
        self._file.put(catalogue, version)
        await self._tell(catalogue)
        return version

    async def by_file(self, text: str, source: str) -> None:
        """Apply what was found in the file."""
        await self(text, source, "file")
        self._file.settle()

    async def follow(self) -> None:
        """Put in force what another daemon applied since."""
        force = self._file.force
        newest = await self._store.versions(limit=1)
        if not newest or newest[0].version <= force.version.version:
            return
        catalogue = await asyncio.to_thread(parse_catalogue, newest[0].text, newest[0].source)
        self._fleet.swap(catalogue)
        self._file.put(catalogue, newest[0])
        await self._tell(catalogue)


async def follow_others(applying: Applying) -> NoReturn:
    """Follow other daemons for ever; what cannot be had or read is looked at again."""
    failing = ""
    while True:
        try:
            await applying.follow()
            cause = ""
        except (UnavailableError, FaultsError) as error:
            cause = str(error)
        if cause and cause != failing:
            log.warning("the catalogue of another daemon is not followed", cause=cause)
        failing = cause
        await asyncio.sleep(FOLLOWS_EVERY_S)
