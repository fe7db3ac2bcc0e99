"""What-if runs: queued, watched, cancelled; a cancelled run's process is really gone."""

import asyncio
from collections.abc import AsyncIterator
from multiprocessing import active_children

import pytest

from controlplane.ports import RunProgress
from controlplane.simulation.whatif import MOST_QUEUED, WhatIfRuns

pytestmark = pytest.mark.slow  # each starts a process of its own


@pytest.fixture
async def whatif() -> AsyncIterator[WhatIfRuns]:
    runs = WhatIfRuns()
    yield runs
    await runs.close()


async def until(whatif: WhatIfRuns, run: str, *states: str, done: float = 0.0) -> RunProgress:
    """Wait until a run is in one of the states and so far done."""
    while True:
        for known in await whatif.runs():
            if known.id == run and known.state in states and known.done >= done:
                return known
        await asyncio.sleep(0.05)


async def test_a_run_goes_on_in_its_own_process_and_ends_with_a_report(whatif: WhatIfRuns) -> None:
    run = await whatif.start("azure-code", "static:2", 3)
    ended = await until(whatif, run.id, "done", "failed")

    assert (run.state, ended.state, ended.error, ended.done) == ("queued", "done", "", 1.0)
    assert ended.report is not None
    assert ended.report["classes"]["medium"]["arrived"] == 8819
    (course,) = (await whatif.courses(run.id)).values()
    assert len(course.at) > 50

    await whatif.close()
    assert active_children() == []


async def test_a_cancelled_run_is_stopped_at_once_and_the_next_one_goes_on(
    whatif: WhatIfRuns,
) -> None:
    long = await whatif.start("seed-000-day", "static:4", 1)
    short = await whatif.start("azure-code", "static:2", 1)
    await until(whatif, long.id, "running", done=0.001)
    (child,) = active_children()
    await whatif.cancel(long.id)
    ended = await until(whatif, short.id, "done")

    assert child not in active_children()
    assert ended.report is not None
    assert [run.state for run in await whatif.runs()] == ["done", "cancelled"]


async def test_a_queued_run_can_be_cancelled_and_a_finished_one_stays_as_it_is(
    whatif: WhatIfRuns,
) -> None:
    first = await whatif.start("azure-code", "static:2", 1)
    second = await whatif.start("azure-code", "static:2", 2)
    await whatif.cancel(second.id)
    ended = await until(whatif, first.id, "done")
    await whatif.cancel(first.id)

    assert {run.id: run.state for run in await whatif.runs()} == {
        first.id: "done",
        second.id: "cancelled",
    }
    assert ended.report is not None


async def test_closing_stops_what_runs(whatif: WhatIfRuns) -> None:
    run = await whatif.start("seed-000-day", "static:4", 1)
    await until(whatif, run.id, "running", done=0.001)
    await whatif.close()

    assert active_children() == []


@pytest.mark.parametrize(
    ("scenario", "policy", "seed", "rule"),
    [
        ("seed-002", "kpa", 1, "must be one of azure-code"),
        ("../seed-000", "kpa", 1, "must be one of"),
        ("seed-000", "hpa:2", 1, "policy: hpa:2: the figure must be above 0"),
        ("seed-000", "kpa", -1, "seed: -1 must be 0 or more"),
    ],
)
async def test_what_cannot_run_is_refused_in_one_sentence(
    whatif: WhatIfRuns, scenario: str, policy: str, seed: int, rule: str
) -> None:
    with pytest.raises(ValueError, match=rule):
        await whatif.start(scenario, policy, seed)

    assert await whatif.runs() == ()


async def test_the_queue_is_bounded(whatif: WhatIfRuns) -> None:
    await whatif.start("seed-000-day", "static:4", 1)
    await until(whatif, "1", "running")
    for seed in range(MOST_QUEUED):
        await whatif.start("azure-code", "static:2", seed)

    with pytest.raises(ValueError, match="waiting already"):
        await whatif.start("azure-code", "static:2", 99)
