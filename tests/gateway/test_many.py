"""More models than Envoy can watch files for: Linux gives a user 128 inotify instances."""

from pathlib import Path

import pytest

from controlplane.domain.gateway import GatewayPlan
from controlplane.render.envoy.clusters import MOST_FILES
from tests.gateway.engine import Engine
from tests.gateway.running import a_model, a_plan, ask, call, endpoint, running

MODELS = 150
LAST = f"m{MODELS - 1:03d}"


def a_fleet(engine: Engine) -> GatewayPlan:
    return a_plan(*(a_model(endpoint(engine), name=f"m{n:03d}") for n in range(MODELS)))


@pytest.mark.timeout(240)  # Envoy looks at 300 clusters twice
async def test_the_last_of_many_models_is_served_and_a_move_of_its_replica_cuts_no_stream(
    tmp_path: Path,
) -> None:
    async with Engine() as before, Engine() as after, running(tmp_path, a_fleet(before)) as run:
        first = await ask(run.port, "/models/m000/v1/completions")
        stream = await call(run.port, f"/models/{LAST}/v1/completions", how="stream")
        await stream.first_byte()
        await run.gateway.update(a_fleet(after))
        while not after.seen.total():
            assert (await ask(run.port, f"/models/{LAST}/v1/completions")).status == 200
        before.release.set()
        rest = await stream.chunks()
        told = await run.gateway.settings(run.gateway.plan.models[-1].name)

    assert first.status == 200
    assert b"[DONE]" in rest
    assert told is not None
    assert [one.live for one in told] == [one.rendered for one in told]
    assert len(list((tmp_path / "eds").iterdir())) == MOST_FILES
