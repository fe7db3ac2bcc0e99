"""A real KEDA and a real HPA obey our external scaler: load, our value, HPA, replicas.

What is applied is what we render, for a model that may go to zero, and not a word of it is changed.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from controlplane.adapters.keda.board import Board
from controlplane.adapters.keda.server import ScalerPort
from controlplane.clock import Clock, stopwatch, wall
from controlplane.decide.handover.figures import Serving, figures
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.handover import TriggerKind
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.render.scaled_object import FREE, LEAST_COOLDOWN_S, Hold, scaled_objects
from controlplane.settings import parse_catalogue
from tests.builders import a_class_load, a_load
from tests.cluster.api import Api, Manifest
from tests.cluster.nodes import Nodes
from tests.cluster.workloads import deployment, pod_spec
from tests.emulation.stand import free_port
from tests.render.handover.fleet import TEXT

pytestmark = [pytest.mark.keda, pytest.mark.usefixtures("keda")]
CHAT, A100 = ModelName("chat"), ClassName("A100-80G")
DEPLOYMENT = "chat-a100-80g"
WITHIN_S = 15.0  # what the whole way may take, at an HPA period of 3 s
TO_ZERO_S = LEAST_COOLDOWN_S + WITHIN_S
EMPTY = "    policy: {scaling: {min: 0}, spare: {count: 0}}\n"
FLEET = TEXT.replace("    profile: seed-000\n", f"    profile: seed-000\n{EMPTY}", 1)


@dataclass(slots=True)
class Stage:
    """A scaler that KEDA asks, a Deployment it sizes, and what we tell it."""

    api: Api
    namespace: str
    fleet: Catalogue
    board: Board
    port: ScalerPort
    running: asyncio.Task[None] | None = None

    def tell(self, target: int | None = None, queue: int = 0) -> None:
        """Say what is wanted, and how many wait."""
        load = a_load(a_class_load(queue=queue), at=wall())
        policy = self.fleet.models[CHAT].policy
        serving = Serving(replicas=2, slots=14, service_s=0.125)
        told = figures(load, policy, serving, {} if target is None else {A100: target})
        self.board.put([told], {CHAT: (A100,)})

    async def hand_over(
        self, trigger: TriggerKind = "target", hold: Hold = FREE, wanted: int = 0
    ) -> None:
        """Apply the ScaledObject; `wanted` as the daemon publishes it, 0 as it is printed."""
        now = {A100: wanted}
        (made,) = scaled_objects(CHAT, self.fleet, self.namespace, trigger, hold, now)
        await self.api.apply(made)

    async def replicas(self, count: int, timeout_s: float = 60.0) -> float:
        """Wait for a size; give how long it took."""
        began = stopwatch()
        place = f"/apis/apps/v1/namespaces/{self.namespace}/deployments/{DEPLOYMENT}"
        await self.api.until(place, lambda d: d["spec"]["replicas"] == count, timeout_s=timeout_s)
        return stopwatch() - began

    async def stays(self, count: int, seconds: float) -> None:
        """See a size stay."""
        place = f"/apis/apps/v1/namespaces/{self.namespace}/deployments/{DEPLOYMENT}"
        until = stopwatch() + seconds
        while stopwatch() < until:
            seen: Manifest = await self.api.get(place)
            assert seen["spec"]["replicas"] == count
            await asyncio.sleep(0.5)

    async def listen(self) -> None:
        """Let the port answer."""
        self.running = asyncio.create_task(self.port.run())
        async with asyncio.timeout(30):
            await self.port.answers.wait()

    async def fall_silent(self) -> None:
        """Be a daemon that is down."""
        if self.running is not None:
            self.running.cancel()
            await asyncio.gather(self.running, return_exceptions=True)
            self.running = None


@pytest.fixture
async def handed(api: Api, namespace: str, nodes: Nodes, port: int) -> AsyncIterator[Stage]:
    where = f"keda: {{scaler_address: 127.0.0.1:{port}, polling_s: 2}}\n"
    fleet = parse_catalogue(FLEET + where, "fleet.yaml")
    board = Board()
    scaler = ScalerPort(board, lambda: fleet, Clock(), f"127.0.0.1:{port}")
    stage = Stage(api, namespace, fleet, board, scaler)
    await nodes.add(kubelet="kwok")
    await api.create(deployment(namespace, DEPLOYMENT, 2, pod_spec(None)))
    await stage.listen()
    yield stage
    await stage.fall_silent()


@pytest.fixture
def port() -> int:
    return free_port()


async def test_keda_carries_out_our_decision_up_and_down(handed: Stage) -> None:
    handed.tell(target=2)
    await handed.hand_over()
    handed.tell(target=4)
    first = await handed.replicas(4)  # KEDA makes the HPA on the way
    handed.tell(target=11)
    up = await handed.replicas(11)
    handed.tell(target=12)
    one_more = await handed.replicas(12)  # within a tenth: without tolerance 0 it would stay
    handed.tell(target=3)
    down = await handed.replicas(3)

    assert max(up, one_more, down) < WITHIN_S, (first, up, one_more, down)


async def test_k6_zero_replicas_and_one_queued_request_become_one(handed: Stage) -> None:
    handed.tell(target=0)
    await handed.hand_over()
    await handed.replicas(0, TO_ZERO_S)

    handed.tell(target=0, queue=1)
    assert await handed.replicas(1) < WITHIN_S


async def test_keda_decides_on_the_weighted_depth(handed: Stage) -> None:
    handed.tell(queue=0)
    await handed.hand_over("weighted_depth")
    handed.tell(queue=10)  # of high: 3 x 10 = 30, at 5 a replica

    await handed.replicas(6)


async def test_k1_a_daemon_that_is_down_takes_no_replica_away(handed: Stage) -> None:
    handed.tell(target=5)
    await handed.hand_over(wanted=5)
    await handed.replicas(5)

    await handed.fall_silent()
    await handed.stays(
        5, TO_ZERO_S
    )  # longer than KEDA's own patience with a model that may be empty
    await handed.listen()  # restarted under KEDA
    await handed.stays(5, WITHIN_S)
    handed.tell(target=6)
    await handed.replicas(6)


async def test_k4_held_at_zero_survives_a_restart_and_resumes_once(handed: Stage) -> None:
    handed.tell(target=3)
    await handed.hand_over()
    await handed.replicas(3)
    await handed.hand_over(hold=Hold(replicas=0))
    await handed.replicas(0)

    await handed.fall_silent()
    await handed.listen()
    await handed.stays(0, 5.0)
    await handed.hand_over()
    await handed.replicas(3)
