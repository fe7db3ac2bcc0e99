"""Plain Deployments shrink as Kubernetes shrinks them: no new requests, and time for the old."""

from collections.abc import Iterator

import numpy as np
import pytest

from controlplane.domain.actions import SetReplicas
from controlplane.domain.priorities import Priority
from controlplane.domain.replicas import Phase
from controlplane.simulation.traffic import Chunk
from controlplane.simulation.world import ClassTally, World, WorldSpec
from tests.builders import A100, CHAT, a_catalogue, a_model, a_variant


class Two:
    """Two requests at once, of 10 s and of 50 s."""

    def chunks(self) -> Iterator[Chunk]:
        yield Chunk(np.array([1.0, 1.0]), np.zeros(2, np.int8), np.array([10.0, 50.0]))


def a_world(grace_s: float) -> World:
    """Two replicas, one request on each."""
    on = {A100: a_variant(slots=1, service_s=1.0)}
    spec = WorldSpec(
        catalogue=a_catalogue({CHAT: a_model(on=on)}),
        start=0.0,
        initial={CHAT: {A100: 2}},
        self_serving=True,
        grace_s=grace_s,
    )
    world = World(spec, {CHAT: Two()}, seed=1)
    world.advance(2.0, wake=False)
    return world


def high(world: World) -> ClassTally:
    return world.tally(CHAT).classes[Priority.HIGH]


@pytest.mark.parametrize(
    ("grace_s", "failed", "billed_s"),
    [
        pytest.param(0.0, 2, 2 * 2.0, id="none: both are cut off at 2 s"),
        pytest.param(
            30.0, 1, 11.0 + 32.0, id="30 s: the short one ends at 11 s, the long one is cut"
        ),
        pytest.param(60.0, 0, 11.0 + 51.0, id="60 s: both end"),
    ],
)
def test_a_deleted_pod_finishes_what_it_can_within_its_grace_and_is_billed_until_then(
    grace_s: float, failed: int, billed_s: float
) -> None:
    world = a_world(grace_s)
    world.apply(SetReplicas(CHAT, A100, 0))
    world.advance(200.0, wake=False)

    assert (high(world).failed, high(world).served) == (failed, 2 - failed)
    assert world.tally(CHAT).device_s == pytest.approx(billed_s)


def test_a_pod_that_is_going_is_shown_so_and_its_deployment_no_longer_counts_it() -> None:
    world = a_world(30.0)
    world.apply(SetReplicas(CHAT, A100, 1))
    phases = sorted(replica.phase for replica in world.observe().view.replicas)
    world.apply(SetReplicas(CHAT, A100, 2))  # grows by a new one, the going one stays so

    assert phases == [Phase.RUNNING, Phase.TERMINATING]
    assert len(world.observe().view.replicas) == 3


def test_an_idle_pod_goes_at_once() -> None:
    world = a_world(30.0)
    world.advance(100.0, wake=False)
    world.apply(SetReplicas(CHAT, A100, 0))

    assert world.observe().view.replicas == ()
