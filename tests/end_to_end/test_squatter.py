"""P4, whole: the loops move a classifier off the A100 that an image model waits for."""

import asyncio
from collections.abc import Awaitable

import pytest

from controlplane.decide.scaling.inputs import ScalingMemory
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.domain.reasons import ReasonCode
from controlplane.loops.placement import Moves, placement_loop
from controlplane.loops.reconcile import reconcile
from controlplane.loops.scaling import scaling_loop
from controlplane.loops.spare import spare_loop
from controlplane.ports import DecisionQuery
from controlplane.simulation.world import World, WorldSpec
from tests.builders import A100, T4, a_catalogue, a_model, a_policy, a_variant
from tests.end_to_end.fleet import Daemon

CLASSIFIER, IMAGE = ModelName("classifier"), ModelName("image")
UNTIL = 900


def a_squatted_fleet() -> Catalogue:
    """One A100, on which the classifier is cheaper a request, and four T4s."""
    on = {A100: a_variant(slots=64), T4: a_variant(slots=4)}
    models = {
        CLASSIFIER: a_model(8.0, on=on, policy=a_policy(max=1)),
        IMAGE: a_model(40.0, on={A100: a_variant()}, policy=a_policy(max=1)),
    }
    return a_catalogue(models, a100_nodes=1, devices_per_node=1, t4_nodes=1)


class WithPlacement(Daemon):
    """The daemon's loops, placement among them, wired as the composition root wires them."""

    def loops(self) -> list[Awaitable[None]]:
        moves = Moves()

        def seen(_look: object, _choices: object, memory: ScalingMemory) -> None:
            moves.scaling = memory

        wake = self.shell.wake
        scaling = scaling_loop(
            self.fleet, self.gate, lambda: moves.memory, lambda: wake("spare"), seen
        )
        placement = placement_loop(self.fleet, self.gate, moves, lambda: wake("scaling"))
        return [
            reconcile(scaling, self.shell),
            reconcile(spare_loop(self.fleet, self.gate), self.shell),
            reconcile(placement, self.shell),
        ]


@pytest.mark.looptime
async def test_p4_the_classifier_grows_on_a_t4_drains_and_frees_the_a100() -> None:
    catalogue = a_squatted_fleet()
    initial: dict[ModelName, dict[ClassName, int]] = {CLASSIFIER: {A100: 1}}
    spec = WorldSpec(catalogue=catalogue, start=0.0, initial=initial, image_cached=True)
    daemon = WithPlacement(World(spec, {}, seed=1), catalogue)
    serving: list[dict[ModelName, list[ClassName]]] = []

    async def watch() -> None:
        while True:
            view = await daemon.cluster.observe()
            up = [replica for replica in view.replicas if replica.serving]
            serving.append(
                {m: [r.node_class for r in up if r.model == m] for m in (CLASSIFIER, IMAGE)}
            )
            await asyncio.sleep(1.0)

    watching = asyncio.ensure_future(watch())
    await daemon.run(UNTIL)
    watching.cancel()

    assert serving[0] == {CLASSIFIER: [A100], IMAGE: []}
    assert all(sight[CLASSIFIER] for sight in serving)  # never a moment with fewer than wanted
    assert serving[-1] == {CLASSIFIER: [T4], IMAGE: [A100]}
    moved_at = next(i for i, sight in enumerate(serving) if A100 not in sight[CLASSIFIER])
    assert all(A100 not in sight[CLASSIFIER] for sight in serving[moved_at:])  # no to and fro
    rows = await daemon.journal.decisions(DecisionQuery(loop="placement", limit=100))
    squatting = [row for row in rows if row.decisive is ReasonCode.SQUATTING]
    assert [row.subject for row in squatting] == [CLASSIFIER]
