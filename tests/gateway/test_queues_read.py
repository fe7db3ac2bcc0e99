"""Who waits at a gateway, as the page of queues asks it: on a real Envoy and without one."""

from pathlib import Path

from controlplane.domain.gateway import GatewayPlan
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.queues import ClassQueue, ModelQueue
from controlplane.domain.reasons import ReasonCode
from controlplane.gateway.counts import Counts
from controlplane.gateway.messages import Counted
from controlplane.gateway.past import Past
from controlplane.gateway.queues import queues
from controlplane.gateway.tally import ClassTally
from tests.gateway.engine import Engine
from tests.gateway.running import (
    CHAT,
    Front,
    Running,
    a_key,
    a_model,
    a_plan,
    ask,
    call,
    endpoint,
    running,
)


def read(run: Running) -> ModelQueue | None:
    gateway = run.gateway
    return queues(gateway.plan, gateway.past, gateway.began).get(CHAT)


def of(run: Running, priority: Priority) -> ClassQueue | None:
    queue = read(run)
    return None if queue is None else queue.classes[priority]


async def test_who_waits_how_long_and_who_was_refused_is_told(tmp_path: Path, front: Front) -> None:
    keys = (
        a_key("one", Priority.LOW, tenant="team-a"),
        a_key("two", Priority.LOW, tenant="team-b"),
    )
    async with Engine() as engine:
        model = a_model(endpoint(engine, 1), queue_bounds={Priority.LOW: 3})
        plan = GatewayPlan(models=(model,), keys=keys)
        async with running(tmp_path, plan, **front) as run:
            await call(run.port, how="hold", key="one")
            await engine.arrived.wait()
            for key in ("one", "one", "two"):
                await call(run.port, key=key)
            await run.until(lambda: run.counted("queued") == [0, 0, 3])
            assert (await ask(run.port, key="two")).status == 429

            def seen() -> bool:
                low = of(run, Priority.LOW)
                waits = low is not None and low.waiting == 3 and low.oldest_s > 0.3
                return waits and low is not None and bool(low.counted.refused)

            await run.until(seen)
            queue, low = read(run), of(run, Priority.LOW)
            assert queue is not None
            assert low is not None
            assert (queue.slots, queue.ready, low.in_flight) == (1, 1, 1)
            assert low.counted.refused == {ReasonCode.QUEUE_FULL: 1}
            assert (low.counted.arrived, low.counted.admitted) == (5, 1)
            assert low.tenants == {"team-a": 2, "team-b": 1}
            engine.release.set()
            await run.quiet()


def tallies(arrived: int, admitted: int, refused: int, aged: int = 0) -> Counted:
    made = [ClassTally() for _ in PRIORITIES]
    high = made[0]
    high.arrived, high.admitted, high.aged = arrived, admitted, aged
    high.refused = {ReasonCode.QUEUE_FULL.value: refused} if refused else {}
    return Counted(models={CHAT: made}, unplaced={})


def test_lately_is_what_lies_between_two_looks() -> None:
    counts = Counts()
    past = Past(counts.sums)
    plan = a_plan(a_model())
    assert queues(plan, past, 0.0) == {}
    counts.take(0, tallies(100, 90, 10))
    past.note(1000.0)
    counts.take(0, tallies(400, 340, 40, aged=5))
    past.note(1030.0)

    queue = queues(plan, past, since=900.0)[CHAT]
    high = queue.classes[Priority.HIGH]

    assert (queue.at, queue.since, queue.lately_s) == (1030.0, 900.0, 30.0)
    assert (high.lately.arrived, high.lately.admitted, high.lately.aged) == (300, 250, 5)
    assert high.lately.refused == {ReasonCode.QUEUE_FULL: 30}
    assert high.counted.refused == {ReasonCode.QUEUE_FULL: 40}


def test_what_ended_workers_had_counted_stays_and_nobody_waits_there_any_more() -> None:
    counts = Counts()
    past = Past(counts.sums)
    first = tallies(100, 90, 10)
    first.models[CHAT][0].queued, first.models[CHAT][0].slots = 7, 2
    first.models[CHAT][0].oldest_s, first.models[CHAT][0].tenants = 3.0, {"a": 7}
    counts.take(0, first)
    counts.ended(0)
    past.note(1000.0)

    high = queues(a_plan(a_model()), past, 0.0)[CHAT].classes[Priority.HIGH]

    assert high.counted.arrived == 100
    assert (high.waiting, high.in_flight, high.oldest_s, high.tenants) == (0, 0, 0.0, {})
