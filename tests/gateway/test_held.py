"""Held requests in number: whoever was let wait meets no bound of Envoy's own."""

from pathlib import Path

import pytest

from controlplane.domain.priorities import Priority
from tests.gateway.engine import Engine
from tests.gateway.running import a_model, a_plan, call, endpoint, running

MANY = {Priority.HIGH: 5000}


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
