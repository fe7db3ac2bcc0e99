"""ScaledObjects are published when our port answers, by the leader, with people's pauses."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from controlplane.clock import Clock
from controlplane.domain import marks
from controlplane.domain.decisions import DONE, Ending, Outcome
from controlplane.domain.overrides import Override
from controlplane.domain.policies import SparePolicy
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.loops.acting import Gate
from controlplane.loops.fleet import Fleet
from controlplane.loops.in_memory import MemoryOverrides, SoleLeader
from controlplane.loops.publishing import Publishing
from controlplane.render.naming import Manifest
from controlplane.render.scaled_object import PAUSED, PAUSED_REPLICAS
from controlplane.simulation.embedded import embedded
from tests.builders import A100, CHAT, NOW, a_catalogue, a_model, a_policy

NAME = "chat-a100-80g"


@dataclass
class Store:
    """ScaledObjects in memory."""

    held: dict[str, Manifest] = field(default_factory=dict)
    writes: int = 0
    no: str = ""
    written: asyncio.Event = field(default_factory=asyncio.Event)

    async def names(self) -> Mapping[str, ModelName]:
        return {name: of["metadata"]["labels"][marks.MODEL] for name, of in self.held.items()}

    async def apply(self, manifest: Manifest) -> Outcome:
        self.writes += 1
        if self.no:
            return Outcome(Ending.REFUSED, self.no)
        self.held[manifest["metadata"]["name"]] = manifest
        self.written.set()
        return DONE

    async def remove(self, name: str) -> Outcome:
        self.writes += 1
        del self.held[name]
        return DONE


@dataclass
class Scene:
    fleet: Fleet
    store: Store
    publishing: Publishing
    overrides: MemoryOverrides
    sizes: dict[ModelName, dict[ClassName, int]] = field(default_factory=dict)

    def least(self) -> int:
        least: int = self.store.held[NAME]["spec"]["minReplicaCount"]
        return least

    def annotations(self) -> dict[str, Any]:
        found: dict[str, Any] = self.store.held[NAME]["metadata"]["annotations"]
        return found


def a_scene(writer: str = "keda", *, acting: bool = True, least: int = 1) -> Scene:
    policy = replace(a_policy(writer=writer, min=least), spare=SparePolicy(count=0))
    catalogue = a_catalogue({CHAT: a_model(policy=policy)})
    clock, overrides = Clock(), MemoryOverrides()
    cluster = embedded(catalogue, clock, 1)
    fleet = Fleet(
        clock=clock, cluster=cluster, signals=cluster, overrides=overrides, catalogue=catalogue
    )
    store = Store()
    sizes: dict[ModelName, dict[ClassName, int]] = {}
    gate, leader = Gate(acting=acting), SoleLeader()
    publishing = Publishing(fleet, store, gate, leader, "inference", lambda: sizes)
    return Scene(fleet, store, publishing, overrides, sizes)


async def test_k2_nothing_is_published_until_our_port_answers() -> None:
    scene, answers = a_scene(), asyncio.Event()
    running = asyncio.create_task(scene.publishing.run(answers))
    await asyncio.sleep(0.05)
    assert scene.store.held == {}

    answers.set()
    async with asyncio.timeout(5):
        await scene.store.written.wait()
    running.cancel()


async def test_what_stands_is_not_written_again() -> None:
    scene = a_scene()
    for _ in range(5):
        await scene.publishing.round()

    assert scene.store.writes == 1


async def test_in_advisory_mode_nothing_is_published() -> None:
    scene = a_scene(acting=False)
    await scene.publishing.round()

    assert scene.store.writes == 0


async def test_what_belongs_to_a_model_that_is_advised_stays_and_no_others() -> None:
    """Models are told apart by their label: chat-pro is none of chat's."""
    scene = a_scene("controlplane", acting=False)
    pro = ModelName("chat-pro")
    for name in (CHAT, pro):
        about = {"name": f"{name}-a100-80g", "labels": {marks.MODEL: str(name)}}
        scene.store.held[f"{name}-a100-80g"] = {"metadata": about, "spec": {}}
    await scene.publishing.round()

    assert list(scene.store.held) == [NAME]


async def test_a_model_that_controlplane_sizes_again_loses_its_scaled_object() -> None:
    scene = a_scene()
    await scene.publishing.round()
    scene.fleet.swap(a_catalogue({CHAT: a_model(policy=a_policy(writer="controlplane"))}))
    await scene.publishing.round()

    assert scene.store.held == {}


async def test_k4_a_pause_reaches_keda_and_its_end_is_one_write() -> None:
    scene = a_scene()
    await scene.overrides.put(Override(subject=CHAT, paused=True, by="me", at=NOW))
    await scene.publishing.round()
    assert scene.annotations()[PAUSED] == "true"

    await scene.overrides.put(Override(subject=CHAT, pinned=0, by="me", at=NOW))
    await scene.publishing.round()
    assert scene.annotations()[PAUSED_REPLICAS] == "0"

    await scene.overrides.put(Override(subject=CHAT, by="me", at=NOW))
    for _ in range(3):
        await scene.publishing.round()
    assert PAUSED not in scene.annotations()
    assert scene.store.writes == 3


async def test_keda_may_take_the_last_replica_only_while_none_is_wanted() -> None:
    """An outage of ours outlasts any cooldown; what KEDA then may do was said before."""
    scene = a_scene(least=0)
    seen = []
    for wanted in (3, 1, 0, 0, 2):
        scene.sizes[CHAT] = {A100: wanted}
        await scene.publishing.round()
        seen.append(scene.least())

    assert seen == [1, 1, 0, 0, 1]
    assert scene.store.writes == 3  # once for each way that was crossed


async def test_until_it_is_known_what_is_wanted_what_is_published_stays() -> None:
    scene = a_scene(least=0)
    about = {"name": NAME, "labels": {marks.MODEL: str(CHAT)}}
    before = {"metadata": about, "spec": {"minReplicaCount": 1}}
    scene.store.held[NAME] = before
    await scene.publishing.round()
    assert scene.store.held == {NAME: before}

    await scene.overrides.put(Override(subject=CHAT, paused=True, by="me", at=NOW))
    await scene.publishing.round()
    assert scene.annotations()[PAUSED] == "true"  # a pause waits for nothing


@pytest.mark.parametrize("writer", ["controlplane", "hpa", "nobody"])
async def test_only_where_keda_writes_there_is_a_scaled_object(writer: str) -> None:
    scene = a_scene(writer)
    await scene.publishing.round()

    assert scene.store.held == {}


async def test_a_refusal_is_kept_to_be_shown() -> None:
    scene = a_scene()
    scene.store.no = "written by HorizontalPodAutoscaler chat too"
    await scene.publishing.round()

    assert scene.publishing.refused == {NAME: "written by HorizontalPodAutoscaler chat too"}
