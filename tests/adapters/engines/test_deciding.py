"""From what real engines answer to a decision: a queue in them raises, silence holds."""

import asyncio

from controlplane.adapters.engines.fleet import EngineFleet
from controlplane.decide.scaling.decision import decide_scale
from controlplane.domain.decisions import Choice
from controlplane.domain.policies import ModelPolicy, Objective, ScalingPolicy
from controlplane.domain.priorities import Priority
from controlplane.domain.reasons import ReasonCode
from controlplane.emulation.faults import Faults
from tests.adapters.engines.watching import an_engine, load_when, watched
from tests.builders import CHAT, an_input, facts
from tests.emulation.stand import emulated

WAITS = {Priority.LOW: Objective(wait_p99_s=0.5)}  # the only promise, and not the middle class's


def a_policy(**scaling: object) -> ModelPolicy:
    return ModelPolicy(
        objectives=WAITS,
        scaling=ScalingPolicy(**{"min": 1, "max": 8, "steady_s": 6.0, **scaling}),  # type: ignore[arg-type]  # a test's choice
    )


async def decided(fleet: EngineFleet, policy: ModelPolicy, target: int = 1) -> Choice:
    load = (await fleet.loads())[CHAT]
    seen = an_input(load, target=target, policy=policy, variants=(facts(slots=4, service_s=0.05),))
    return decide_scale(seen)


async def test_a_queue_inside_the_engine_raises_the_target() -> None:
    policy = a_policy(drain_limit_s=0.5)
    async with (
        emulated(slots=4, faults=Faults(hang=True)) as stand,
        watched([an_engine(stand)], policy) as fleet,
    ):
        sent = stand.begin(100)
        await load_when(fleet, lambda _, c: c.queue.x == 96.0 and c.arrivals_steady.x is not None)

        choice = await decided(fleet, policy)

        assert choice.target > 1
        assert ReasonCode.DRAIN_TOO_SLOW in [reason.code for reason in choice.trail]
        for task in sent:
            task.cancel()


async def test_the_wait_that_engines_measure_raises_whichever_class_was_promised_one() -> None:
    policy = a_policy(drain_limit_s=None, offered_ceiling=None)
    async with (
        emulated(slots=1, service_s=0.1) as stand,
        watched([an_engine(stand)], policy) as fleet,
    ):
        sent = stand.begin(30)
        await load_when(
            fleet, lambda _, c: (c.wait_p99.x or 0.0) > 0.5 and c.arrivals_steady.x is not None
        )

        choice = await decided(fleet, policy)

        assert choice.target == 2
        assert ReasonCode.WAIT_P99_BROKEN in [reason.code for reason in choice.trail]
        await asyncio.gather(*sent)


async def test_s6_where_too_few_answer_the_target_holds() -> None:
    policy = a_policy()
    async with emulated() as good, emulated(faults=Faults(mute=True)) as mute:
        engines = [an_engine(good, 1), *(an_engine(mute, n) for n in (2, 3, 4))]
        async with watched(engines, policy) as fleet:
            await load_when(fleet, lambda _, c: "1 of 4" in str(c.queue))

            choice = await decided(fleet, policy, target=4)

    assert choice.target == 4
    assert ReasonCode.SIGNALS_UNKNOWN in [reason.code for reason in choice.trail]
