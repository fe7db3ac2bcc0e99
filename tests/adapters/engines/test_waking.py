"""The loops are woken at once when a limit breaks or an engine is ready, and not without end."""

import asyncio

from controlplane.adapters.engines.breaches import broken
from controlplane.adapters.engines.fleet import EngineFleet
from controlplane.domain.quantities import ReplicaName
from controlplane.domain.serving import Health
from controlplane.emulation.faults import Faults
from tests.adapters.engines.watching import an_engine, load_when, state_when, watched
from tests.builders import a_class_load, a_load, a_policy
from tests.emulation.stand import emulated


class Wakes(asyncio.Queue[float]):
    """When the loops were woken."""

    def __init__(self, fleet: EngineFleet) -> None:
        super().__init__()
        fleet.wake = lambda: self.put_nowait(asyncio.get_running_loop().time())


async def test_a_queue_that_drains_too_slowly_wakes_the_loops_once() -> None:
    async with emulated(slots=1, faults=Faults(hang=True)) as stand:
        policy = a_policy(drain_limit_s=0.1, steady_s=6.0)
        async with watched([an_engine(stand)], policy) as fleet:
            await state_when(fleet, lambda state: state.healthy)
            await load_when(fleet, lambda _, c: c.arrivals_steady.x is not None)
            wakes = Wakes(fleet)
            sent = stand.begin(60)
            await stand.until(running=1, waiting=59)
            began = asyncio.get_running_loop().time()

            async with asyncio.timeout(5):
                woken = await wakes.get()

            assert woken - began < 0.5
            await asyncio.sleep(0.8)  # it stays broken
            assert wakes.qsize() <= 2  # the queue, and the arrivals that came with it
            for task in sent:
                task.cancel()


async def test_an_engine_that_becomes_healthy_or_warm_wakes_the_loops() -> None:
    async with emulated("other", loaded=False) as stand:
        engine = an_engine(stand, serves=False, health=Health(how="json"))
        async with watched([engine]) as fleet:
            await state_when(fleet, lambda state: bool(state.why))
            wakes = Wakes(fleet)
            await asyncio.sleep(0.3)
            assert wakes.empty()

            stand.engine.loaded = True
            await state_when(fleet, lambda state: state.healthy)
            assert wakes.qsize() == 1

            await fleet.warm_up(ReplicaName("chat-1"), 4)
            await state_when(fleet, lambda state: state.warmed_up)
            assert wakes.qsize() == 2


def test_each_limit_is_held_against_its_own_signal() -> None:
    policy = a_policy(drain_limit_s=10.0, offered_ceiling=0.8, watermark=0.85)

    def of(**high: float) -> set[str]:
        return set(broken(a_load(a_class_load(**high), service_s=0.5), policy, 4.0, 0.5))

    assert of() == set()
    assert of(queue=81.0) == {"drain_high"}
    assert of(queue=80.0) == set()
    assert of(arrivals=6.5) == {"offered_load_high"}
    assert of(turned_away=0.2) == {"turned_away_high"}
    assert of(wait=0.2) == {"wait_p99_high"}
    assert broken(a_load(kv=0.9), policy, 4.0, 0.5) == {"kv_usage"}


def test_a_rule_that_is_off_wakes_nobody() -> None:
    policy = a_policy(
        drain_limit_s=None, offered_ceiling=None, watermark=None, p99=False, turned_away=False
    )
    load = a_load(a_class_load(queue=1e6, arrivals=1e6, turned_away=1e3, wait=1e3), kv=1.0)

    assert broken(load, policy, 1.0, 1.0) == frozenset()


def test_without_a_replica_in_service_only_what_needs_none_can_be_broken() -> None:
    load = a_load(a_class_load(queue=1e6, arrivals=1e6))

    assert broken(load, a_policy(), 0.0, 0.5) == frozenset()
