"""Held requests in number: whoever was let wait meets no bound of Envoy's own."""

from pathlib import Path

import pytest

from controlplane.domain.priorities import Priority
from tests.gateway.crowd import CROWD, a_crowd_plan, crowd, enough_files, memory_kib
from tests.gateway.engine import Engine
from tests.gateway.running import a_model, a_plan, ask, call, endpoint, running

MANY = {Priority.HIGH: 5000}
MOST_KIB = 30  # of an admission worker's memory, for each request it holds


@pytest.mark.slow
async def test_more_requests_than_envoy_allows_by_default_are_held_and_none_is_lost(
    tmp_path: Path,
) -> None:
    """Its bounds are 1,024 pending and 1,024 running; whoever was let wait must not meet them."""
    model = a_model(queue_bounds=MANY)
    async with Engine() as engine, running(tmp_path, a_plan(model), concurrency=2) as run:
        held = [await call(run.port) for _ in range(1500)]
        await run.until(lambda: run.counted("queued") == [1500, 0, 0], within_s=50)
        served = a_model(endpoint(engine, 1500), queue_bounds=MANY)
        await run.gateway.update(a_plan(served))
        assert {(await made.reply()).status for made in held} == {200}


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_ten_thousand_are_held_at_once_in_little_memory_and_none_is_lost(
    tmp_path: Path,
) -> None:
    wanting = enough_files()
    if wanting:
        pytest.skip(wanting)
    async with Engine() as engine, running(tmp_path, a_crowd_plan(), concurrency=2) as run:
        assert (await ask(run.port, "/models/other/")).status == 404  # all is loaded now
        before = memory_kib(run.gateway.pids)
        held = await crowd(run)
        each = (memory_kib(run.gateway.pids) - before) / CROWD
        await run.gateway.update(a_crowd_plan(engine))
        assert {(await made.reply()).status for made in held} == {200}
        assert engine.seen["at-once"] == CROWD
        await run.quiet()
    assert 0 < each <= MOST_KIB
