"""Live reload: a sound file is put in force, a faulty one refused, and both are said."""

import pytest

from controlplane.clock import Clock
from controlplane.decide.reload import Candidate, decide_reload
from controlplane.domain.decisions import Ending
from controlplane.domain.reasons import ReasonCode
from controlplane.loops.catalogue import catalogue_loop
from controlplane.loops.in_memory import MemoryJournal, MemoryLoopMemory
from controlplane.loops.reconcile import Shell, cycle, start
from controlplane.ports import DecisionQuery
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.metrics import Metrics

SOUND = Candidate(text="models: …", source="fleet.yaml", version=3, models=7, models_then=8)
FAULT = "fleet.yaml:9: models.chat.policy.scaling.min: 50: must not be above max 10"
FAULTY = Candidate(text="", source="fleet.yaml", version=3, models=7, faults=(FAULT,))


def test_a_sound_file_is_applied_and_the_models_are_counted() -> None:
    choice = decide_reload(SOUND)

    assert [(r.code, r.before, r.after) for r in choice.trail] == [
        (ReasonCode.CATALOGUE_APPLIED, 7, 8)
    ]
    assert choice.actions


def test_t5_a_faulty_file_changes_nothing_and_its_first_fault_is_evidence() -> None:
    choice = decide_reload(FAULTY)

    assert (choice.current, choice.target, choice.actions) == (7, 7, ())
    assert choice.trail[0].code is ReasonCode.CATALOGUE_REFUSED
    assert FAULT in [evidence.value for evidence in choice.trail[0].evidence]


@pytest.mark.parametrize("found", [SOUND, FAULTY], ids=["sound", "faulty"])
async def test_the_loop_applies_or_refuses_and_writes_it_down(found: Candidate) -> None:
    applied: list[str] = []
    refused: list[tuple[str, ...]] = []
    left = [found]

    async def apply(text: str, _source: str) -> None:
        applied.append(text)

    loop = catalogue_loop(lambda: left.pop() if left else None, apply, refused.append)
    journal = MemoryJournal()
    shell = Shell(
        clock=Clock(),
        journal=journal,
        memory=MemoryLoopMemory(),
        heartbeats=Heartbeats(),
        metrics=Metrics(),
        catalogue_version=lambda: 3,
    )
    await start(loop, shell)
    await cycle(loop, shell, loop.fresh)
    rows = await journal.decisions(DecisionQuery())

    assert applied == ([SOUND.text] if found is SOUND else [])
    assert refused == ([] if found is SOUND else [(FAULT,)])
    assert [row.ending for row in rows] == [Ending.DONE]
