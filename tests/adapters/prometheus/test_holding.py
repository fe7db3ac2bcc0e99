"""Whatever a Prometheus says instead of an answer, no target falls (S1, S2, S4, S5, S9, S10)."""

import pytest
from aiohttp import web

from controlplane.adapters.prometheus.client import Prometheus
from controlplane.decide.scaling.decision import decide_scale
from controlplane.domain.quantities import ModelName
from controlplane.domain.sources import PrometheusSource
from controlplane.loops.sources import OrderedSignals
from tests.adapters.prometheus.fleet import Scene
from tests.adapters.prometheus.server import serving
from tests.builders import a_policy, an_input

NAME = ModelName("chat")
ROW = '{"metric":{"pod":"chat-0","part":"%s"},"value":[1,"%s"]}'
GOOD = '{"status":"success","data":{"resultType":"vector","result":[%s]}}'

BODIES = {
    "S1 empty": (200, GOOD % ""),
    "S4 NaN": (200, GOOD % (ROW % ("value", "NaN"))),
    "S4 infinite": (200, GOOD % (ROW % ("value", "+Inf"))),
    "S4 negative": (200, GOOD % (ROW % ("value", "-1"))),
    "S5 503": (503, "0"),
    "S5 a page": (200, "<html>0</html>"),
    "S9 old": (200, GOOD % f"{ROW % ('value', '0')},{ROW % ('age', '900')}"),
    "an error": (200, '{"status":"error","errorType":"timeout","error":"query timed out"}'),
}


@pytest.mark.parametrize("name", BODIES)
async def test_a_target_of_six_stays_and_the_floor_holds(name: str) -> None:
    status, body = BODIES[name]

    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, text=body)

    async with serving({"/api/v1/query": answer}) as address:
        assert await targets(address) == (6, 3)


async def test_s2_nobody_there_and_a_target_of_six_stays() -> None:
    assert await targets("http://127.0.0.1:1") == (6, 3)


async def targets(address: str) -> tuple[int, int]:
    """Decide with what was heard: from 6 replicas, and from 1 where 3 are the least (S10)."""
    async with Prometheus(PrometheusSource(address=address, timeout_s=1.0)) as client:
        scene = Scene(client, NAME, ["chat-0"])
        signals = scene.signals()
        await signals.update()
        ordered = OrderedSignals({"prometheus": signals}, scene.catalogue, scene.clock)
        load = (await ordered.loads())[NAME]
    held = decide_scale(an_input(load, target=6, calm_for=10_000.0))
    floor = decide_scale(an_input(load, target=1, policy=a_policy(min=3)))
    return held.target, floor.target
