"""Warm-up and sleep at engines that really generate: behaviours R1, R2, law 7."""

import pytest
from aiohttp import ClientSession

from controlplane.adapters.engines.warm_up import Batch, run
from controlplane.domain.decisions import Ending
from controlplane.domain.policies import ModelPolicy, SparePolicy
from controlplane.domain.quantities import ReplicaName
from controlplane.domain.serving import Serving, WarmUpBatch
from controlplane.emulation.faults import Faults
from controlplane.ports import EngineAt
from tests.adapters.engines.watching import an_engine, state_when, watched
from tests.builders import A100, CHAT, WAITS
from tests.emulation.stand import Process, emulated, engine_process

CHAT_1 = ReplicaName("chat-1")


def limited(limit_s: float) -> ModelPolicy:
    return ModelPolicy(objectives=WAITS, spare=SparePolicy(warmup_limit_s=limit_s))


async def test_r1_a_port_that_opens_late_hears_no_request_before_its_warm_up() -> None:
    async with (
        engine_process("--load-s", "1", wait=False) as process,
        ClientSession() as session,
        watched([at_port(process.port)]) as fleet,
    ):
        loading = await state_when(fleet, lambda _: True)
        assert not loading.healthy
        assert "cannot be asked" in loading.why

        healthy = await state_when(fleet, lambda state: state.healthy, within_s=30.0)
        assert not healthy.warmed_up
        assert await received(session, process) == 0

        await fleet.warm_up(CHAT_1, 8)
        warm = await state_when(fleet, lambda state: state.warmed_up)
        assert await received(session, process) >= 8
        assert warm.healthy
        assert not warm.warming_up


def at_port(port: int) -> EngineAt:
    return EngineAt(
        replica=CHAT_1,
        model=CHAT,
        node_class=A100,
        host="127.0.0.1",
        serving=Serving(port=port),
        serves=False,
        started="1",
    )


async def received(session: ClientSession, process: Process) -> int:
    async with session.get(f"{process.url}/emulation/state") as answer:
        return int((await answer.json())["received"])


async def test_r2_health_is_good_and_generation_hangs_so_it_is_never_warm_and_says_why() -> None:
    async with (
        emulated(faults=Faults(hang=True)) as stand,
        watched([an_engine(stand)], limited(0.5)) as fleet,
    ):
        await state_when(fleet, lambda state: state.healthy)
        await fleet.warm_up(CHAT_1, 20)
        meanwhile = await state_when(fleet, lambda state: state.warming_up)
        after = await state_when(fleet, lambda state: not state.warming_up)

        assert after.healthy
        assert not after.warmed_up
        assert meanwhile.note == "warm-up: 0 of 20 prompts answered"
        assert after.note == "warm-up: 0 of 20 prompts answered within 0.5 s"

        again = await fleet.warm_up(CHAT_1, 20)  # the next cycle tries anew
        assert again.ending is Ending.DONE


async def test_an_engine_that_gets_faster_is_warm_once_it_gets_no_faster() -> None:
    async with (
        emulated(slots=4, service_s=0.01, cold_requests=30, cold_factor=5.0) as stand,
        watched([an_engine(stand)]) as fleet,
    ):
        await state_when(fleet, lambda state: state.healthy)
        await fleet.warm_up(CHAT_1, 12)
        state = await state_when(fleet, lambda state: state.warmed_up)

        assert stand.engine.book.succeeded >= 12
        assert state.note == ""


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Faults(error_rate=1.0), "warm-up: /v1/completions answers 500"),
        (Faults(html=True), "warm-up: /v1/completions answers 200 and no JSON"),
        (Faults(wrong_json=True), "warm-up: /v1/completions answers 200 and no JSON"),
    ],
)
async def test_an_answer_that_is_no_generation_ends_it(fault: Faults, why: str) -> None:
    async with emulated(faults=fault) as stand, watched([an_engine(stand)]) as fleet:
        await state_when(fleet, lambda _: True)
        await fleet.warm_up(CHAT_1, 10)
        state = await state_when(fleet, lambda state: why in state.note)

        assert not state.warmed_up


async def test_prompts_are_taken_in_turn_as_many_at_once_as_there_are_slots() -> None:
    prompts = WarmUpBatch(prompts=("short", "a much longer prompt " * 20), max_tokens=3)
    async with (
        emulated(slots=8, service_s=0.05) as stand,
        watched([an_engine(stand, warm_up=prompts)]) as fleet,
    ):
        await state_when(fleet, lambda _: True)
        await fleet.warm_up(CHAT_1, 12)
        await stand.until(running=4)  # the variant has four
        await state_when(fleet, lambda state: state.warmed_up)

        book = stand.engine.book
        assert book.succeeded >= 12
        assert book.generation_tokens == 3 * book.succeeded
        assert book.prompt_tokens == book.succeeded // 2 * 105 + (book.succeeded + 1) // 2


async def test_chat_and_a_body_of_ones_own_can_be_prompts_too() -> None:
    chat = WarmUpBatch(path="/v1/chat/completions")
    own = WarmUpBatch(path="/v2/models/chat/infer", body='{"text_input": "hello"}')
    async with emulated() as one, emulated("triton") as two:
        engines = [an_engine(one, 1, warm_up=chat), an_engine(two, 2, warm_up=own)]
        async with watched(engines) as fleet:
            for name in ("chat-1", "chat-2"):
                await state_when(fleet, lambda _: True, name)
                await fleet.warm_up(ReplicaName(name), 3)
                await state_when(fleet, lambda state: state.warmed_up, name)


async def test_who_is_not_there_or_is_under_way_is_told() -> None:
    async with emulated(service_s=0.2) as stand, watched([an_engine(stand)]) as fleet:
        gone = await fleet.warm_up(ReplicaName("chat-9"), 5)
        first, second = [await fleet.warm_up(CHAT_1, 5) for _ in range(2)]

        assert gone.ending is Ending.REFUSED
        assert gone.note == "chat-9 is not running, or has no address yet"
        assert (first.ending, second.note) == (Ending.DONE, "under way already")


def a_batch(*latencies: float, requests: int = 10) -> Batch:
    async_engine = None
    return Batch(
        engine=async_engine,  # type: ignore[arg-type]  # only the rule is asked
        requests=requests,
        slots=4,
        limit_s=60.0,
        latencies=list(latencies),
    )


def test_the_rule_compares_the_medians_of_the_last_five_and_the_five_before() -> None:
    falling = a_batch(*([1.0] * 5 + [0.5] * 5))
    level = a_batch(*([1.0] * 5 + [0.8] * 5))
    one_slow = a_batch(*([1.0] * 5 + [1.0, 9.0, 1.0, 1.0, 1.0]))
    few = a_batch(*([1.0, 0.1, 0.1]), requests=3)

    assert not falling.complete
    assert falling.next_wanted
    assert level.complete
    assert one_slow.complete  # one that is late says nothing
    assert few.complete


async def test_where_latency_never_settles_what_was_answered_counts_and_a_note_says_so() -> None:
    # The batch was answered, ever faster; what is sent to see whether it settles finds no end.
    async with emulated(faults=Faults(hang=True)) as stand:
        batch = Batch(
            engine=an_engine(stand),
            requests=10,
            slots=4,
            limit_s=0.3,
            latencies=[1.0] * 5 + [0.1] * 5,
            sent=10,
        )

        note = await run(stand.session, batch, lambda _: None)

    assert note == "latency was not steady within 0.3 s, after 10 prompts"


async def test_an_engine_sleeps_and_wakes_and_is_healthy_for_nobody_while_it_sleeps() -> None:
    async with (
        emulated(may_sleep=True, wake_s=0.05) as stand,
        watched([an_engine(stand, serves=False, may_sleep=True)]) as fleet,
    ):
        await state_when(fleet, lambda state: state.healthy)

        assert (await fleet.sleep(CHAT_1)).ending is Ending.DONE
        asleep = await state_when(fleet, lambda state: state.sleeping)
        status, _ = await stand.get("/health")

        assert status == 200  # vLLM's health says nothing of it
        assert (asleep.healthy, asleep.why) == (False, "it sleeps")
        refused = await fleet.warm_up(CHAT_1, 4)
        assert (refused.ending, refused.note) == (Ending.REFUSED, "chat-1 sleeps")

        assert (await fleet.wake_up(CHAT_1)).ending is Ending.DONE
        await state_when(fleet, lambda state: state.healthy and not state.sleeping)


async def test_sleep_is_seen_also_where_metrics_do_not_tell() -> None:
    async with (
        emulated(may_sleep=True, faults=Faults(hide="sleep_state")) as stand,
        watched([an_engine(stand, may_sleep=True)]) as fleet,
    ):
        await state_when(fleet, lambda state: state.healthy)
        stand.engine.sleep(1, "wait")

        await state_when(fleet, lambda state: state.sleeping)


async def test_an_engine_that_generates_is_not_put_to_sleep() -> None:
    async with (
        emulated(may_sleep=True, faults=Faults(hang=True)) as stand,
        watched([an_engine(stand, may_sleep=True)]) as fleet,
    ):
        sent = stand.begin()
        await stand.until(running=1)
        await state_when(fleet, lambda state: state.in_flight.x == 1.0)

        outcome = await fleet.sleep(CHAT_1)
        sent[0].cancel()

    assert (outcome.ending, outcome.note) == (Ending.REFUSED, "chat-1 still has requests")


async def test_an_engine_that_cannot_sleep_is_refused_with_the_reason() -> None:
    async with emulated("sglang") as one, emulated() as two:
        engines = [an_engine(one, 1, may_sleep=True), an_engine(two, 2, may_sleep=True)]
        async with watched(engines) as fleet:
            no_call = await fleet.sleep(CHAT_1)
            not_started_so = await fleet.sleep(ReplicaName("chat-2"))

    assert no_call.note == "chat-1 cannot sleep: sglang has no call for it"
    assert not_started_so.note.startswith("/sleep is not there: vLLM needs --enable-sleep-mode")
