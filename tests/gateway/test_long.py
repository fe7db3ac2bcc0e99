"""What takes minutes: `make test-long`, and not `make test`."""

import asyncio
from pathlib import Path

import pytest

from tests.gateway.engine import Engine
from tests.gateway.running import CHAT, Front, a_model, a_plan, ask, call, endpoint, running

SEVEN_MINUTES_S = 420.0
TOKENS, GAP_S = 7, 60.0  # far apart: balancers like to cut what has been silent for 15 s


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(900)
async def test_a_stream_of_seven_minutes_holds_its_slot_is_not_cut_and_frees_it_at_its_end(
    tmp_path: Path, front: Front
) -> None:
    clock = asyncio.get_running_loop().time
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine, 1))), **front) as run,
    ):
        began = clock()
        stream = await call(run.port, how=f"stream={TOKENS}/{GAP_S:g}")
        await stream.first_byte()
        await run.until(lambda: run.counted("running", CHAT) == [1, 0, 0])
        waited = await ask(run.port, x_deadline_s="1")
        body = await stream.chunks()
        lasted_s = clock() - began
        await run.quiet()
        after = await ask(run.port)

    assert waited.status == 504  # the only slot was taken
    assert body == b"data: token\n\n" * TOKENS + b"data: [DONE]\n\n"
    assert lasted_s >= SEVEN_MINUTES_S
    assert after.status == 200
