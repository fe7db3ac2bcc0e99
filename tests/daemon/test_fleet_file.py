"""The fleet file while the daemon runs: bad, gone, back, and a store that cannot be written."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from controlplane.clock import Clock
from controlplane.daemon.fleet_file import Applying, FleetFile
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.reasons import ReasonCode
from controlplane.loops.catalogue import CatalogueMemory, CatalogueSeen, catalogue_loop
from controlplane.loops.fleet import Fleet
from controlplane.loops.in_memory import (
    MemoryCatalogues,
    MemoryJournal,
    MemoryLoopMemory,
    MemoryOverrides,
)
from controlplane.loops.reconcile import Loop, Shell, cycle
from controlplane.ports import CatalogueVersion, DecisionQuery, UnavailableError
from controlplane.settings import parse_catalogue
from controlplane.simulation.embedded import Embedded
from controlplane.simulation.world import World, WorldSpec
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.metrics import Metrics
from tests.settings.fleet_text import SMALL

FLEET = "currency: USD\n" + SMALL
CHANGED = FLEET.replace("USD", "EUR")
BAD = FLEET.replace("USD", "X")


class Store(MemoryCatalogues):
    """A store of versions that can be locked by somebody else."""

    locked = False

    async def add(self, text: str, source: str, by: str, at: float) -> CatalogueVersion:
        if self.locked:
            raise UnavailableError("the store is locked by another program")
        return await super().add(text, source, by, at)


class Reloading:
    """A fleet file and the loop that follows it."""

    def __init__(self, path: Path) -> None:
        """Write a sound file; it is put in force by `begin`."""
        self.path, self.store = path, Store()
        path.write_text(FLEET)
        self.file = FleetFile(path)
        self.clock = Clock(start=0.0)

    async def begin(self) -> None:
        """Start as the daemon does."""
        text = self.file.read()
        catalogue = parse_catalogue(text, self.file.name)
        self.file.put(catalogue, await self.store.add(text, self.file.name, "start", 0.0))
        cluster = Embedded(
            World(WorldSpec(catalogue=catalogue, start=0.0, initial={}), {}, 1), self.clock
        )
        overrides = MemoryOverrides()
        fleet = Fleet(
            clock=self.clock,
            cluster=cluster,
            signals=cluster,
            overrides=overrides,
            catalogue=catalogue,
        )
        self.applying = Applying(self.file, self.store, fleet, self.clock, cluster.swap_catalogue)
        self.loop: Loop[CatalogueSeen, CatalogueMemory] = catalogue_loop(
            self.file.look, self.applying.by_file, lambda faults: self.file.refuse(faults, 1.0)
        )
        self.journal = MemoryJournal()
        self.shell = Shell(
            clock=self.clock,
            journal=self.journal,
            memory=MemoryLoopMemory(),
            heartbeats=Heartbeats(),
            metrics=Metrics(),
            catalogue_version=lambda: self.file.force.version.version,
        )

    async def look(self) -> None:
        """Let the loop look once."""
        await cycle(self.loop, self.shell, CatalogueMemory())

    @property
    def in_force(self) -> Catalogue:
        """What decides."""
        return self.file.force.catalogue

    @property
    def faults(self) -> tuple[str, ...]:
        """What the page says."""
        return self.file.force.faults


@pytest.fixture
async def reloading(tmp_path: Path) -> Reloading:
    made = Reloading(tmp_path / "fleet.yaml")
    await made.begin()
    return made


async def test_a_file_that_was_gone_and_is_back_as_it_was_is_no_fault_any_more(
    reloading: Reloading,
) -> None:
    reloading.path.unlink()
    await reloading.look()
    assert "cannot be read" in reloading.faults[0]

    reloading.path.write_text(FLEET)
    await reloading.look()

    assert reloading.faults == ()
    assert reloading.file.force.refused_at is None
    assert reloading.file.force.version.version == 1


async def test_a_faulty_file_that_was_gone_and_is_back_has_its_own_faults_again(
    reloading: Reloading,
) -> None:
    reloading.path.write_text(BAD)
    await reloading.look()
    faults = reloading.faults
    assert "currency" in faults[0]

    reloading.path.unlink()
    await reloading.look()
    assert "cannot be read" in reloading.faults[0]
    reloading.path.write_text(BAD)
    await reloading.look()

    assert reloading.faults == faults


@pytest.mark.parametrize("bad", [BAD, "", "[", "\x00", "a: 1"])
async def test_t5_a_bad_file_changes_nothing_and_the_good_one_after_it_is_taken(
    reloading: Reloading, bad: str
) -> None:
    reloading.path.write_text(bad)
    await reloading.look()
    assert reloading.faults
    assert reloading.in_force.currency == "USD"

    reloading.path.write_text(CHANGED)
    await reloading.look()

    assert reloading.faults == ()
    assert reloading.in_force.currency == "EUR"


async def test_a_change_that_meets_a_locked_store_is_taken_when_the_store_is_free(
    reloading: Reloading,
) -> None:
    """Level-triggered (law 4): what could not be done is found again at the next look."""
    reloading.path.write_text(CHANGED)
    reloading.store.locked = True
    for _ in range(2):
        with pytest.raises(UnavailableError):
            await reloading.look()
    assert reloading.in_force.currency == "USD"

    reloading.store.locked = False
    await reloading.look()

    assert reloading.in_force.currency == "EUR"
    assert reloading.file.force.version.version == 2


async def test_a_text_applied_by_hand_stands_although_the_file_still_has_faults(
    reloading: Reloading,
) -> None:
    reloading.path.write_text(BAD)
    await reloading.look()
    await reloading.applying(CHANGED, "page", "ann")
    await reloading.look()

    assert reloading.faults == ()
    assert reloading.in_force.currency == "EUR"


async def test_a_fault_is_said_once_however_often_the_file_is_looked_at(
    reloading: Reloading,
) -> None:
    reloading.path.write_text(BAD)
    for _ in range(3):
        await reloading.look()
    reloading.path.write_text(BAD + "# the same fault\n")
    await reloading.look()

    rows = await reloading.journal.decisions(DecisionQuery(loop="catalogue"))
    assert [(row.decisive, row.repeats) for row in rows] == [(ReasonCode.CATALOGUE_REFUSED, 0)]


async def test_who_reads_the_log_learns_of_a_refusal_once_with_its_faults(
    reloading: Reloading,
) -> None:
    reloading.path.write_text(BAD)
    with capture_logs() as logs:
        await reloading.look()
        await reloading.look()

    (told,) = [line for line in logs if line["log_level"] == "warning"]
    assert told["event"] == "the fleet file is refused"
    assert told["in_force"] == 1
    assert told["faults"] == reloading.faults
    assert "currency: X" in told["faults"][0]


async def test_what_another_daemon_applied_is_followed_and_decides(reloading: Reloading) -> None:
    other = FLEET.replace("USD", "EUR")
    version = await reloading.store.add(other, "a text", "ann", 9.0)

    await reloading.applying.follow()
    await reloading.look()

    assert reloading.in_force.currency == "EUR"
    assert reloading.file.force.version == version
    assert len(await reloading.store.versions()) == 2  # our file is as it was: it stays behind


async def test_a_file_whose_text_another_daemon_applied_first_is_no_news(
    reloading: Reloading,
) -> None:
    other = FLEET.replace("USD", "EUR")
    reloading.path.write_text(other)
    await reloading.store.add(other, "fleet.yaml", "file", 9.0)

    await reloading.applying.follow()
    await reloading.look()

    assert reloading.in_force.currency == "EUR"
    assert await reloading.journal.decisions(DecisionQuery()) == []


async def test_nothing_new_changes_nothing(reloading: Reloading) -> None:
    before = reloading.in_force

    await reloading.applying.follow()

    assert reloading.in_force is before
