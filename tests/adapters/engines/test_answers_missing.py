"""Who does not answer, answers nonsense, or is gone: behaviours S5, S6, S7, S9."""

import asyncio
from contextlib import AsyncExitStack

from controlplane.domain.samples import Absence, Bad, NoData, Stale, Value, Zero
from controlplane.emulation.faults import Faults
from tests.adapters.engines.watching import an_engine, load_now, load_when, state_when, watched
from tests.emulation.stand import Stand, emulated


async def four(stack: AsyncExitStack, **like: object) -> list[Stand]:
    return [await stack.enter_async_context(emulated(**like)) for _ in range(4)]  # type: ignore[arg-type]  # as given


async def test_s5_an_error_with_the_body_0_is_no_data_for_the_status_is_read_before_the_body() -> (
    None
):
    async with (
        emulated(faults=Faults(metrics_status=503)) as stand,
        watched([an_engine(stand)]) as fleet,
    ):
        _, of_class = await load_when(fleet, lambda _, c: c.queue != NoData(Absence.NOT_YET))

    assert of_class.queue == NoData(Absence.UNREACHABLE, "/metrics answers 503")


async def test_s5_a_page_of_html_with_200_is_bad() -> None:
    async with (
        emulated(faults=Faults(html_metrics=True)) as stand,
        watched([an_engine(stand)]) as fleet,
    ):
        _, of_class = await load_when(fleet, lambda _, c: isinstance(c.queue, Bad))

    assert isinstance(of_class.queue, Bad)
    assert "<!doctype html>" in of_class.queue.raw


async def test_s4_a_gauge_that_is_nan_is_bad_and_reaches_no_arithmetic() -> None:
    async with (
        emulated(faults=Faults(nan_metrics=True)) as stand,
        watched([an_engine(stand)]) as fleet,
    ):
        load, of_class = await load_when(fleet, lambda _, c: isinstance(c.queue, Bad))

    assert of_class.queue == load.kv_usage == load.in_flight == Bad("nan")


async def test_s6_three_of_four_answer_so_they_speak_for_all_and_the_fourth_is_named() -> None:
    async with AsyncExitStack() as stack:
        stands = await four(stack, slots=1)
        stands[3].engine.faults.change({"mute_metrics": True})
        for stand in stands[:3]:
            stand.engine.faults.change({"hang": True})
            stack.callback(lambda tasks: [t.cancel() for t in tasks], stand.begin(3))
            await stand.until(running=1, waiting=2)
        engines = [an_engine(stand, n) for n, stand in enumerate(stands, 1)]
        fleet = await stack.enter_async_context(watched(engines))

        load, of_class = await load_when(
            fleet, lambda load, c: c.queue.x is not None and "did not answer" in str(load.notes)
        )

        assert of_class.queue.x == 8.0  # 2 each, and the fourth is taken to be like them
        assert load.in_flight.x == 4.0
        assert len(load.notes) == 1
        assert load.notes[0].startswith("chat-4: ")
        flagged = await state_when(fleet, lambda state: bool(state.note), "chat-4")
        assert flagged.healthy
        assert "/metrics did not answer within 2 s" in flagged.note


async def test_s6_one_of_four_answers_so_nothing_is_known_and_a_target_holds() -> None:
    async with AsyncExitStack() as stack:
        stands = await four(stack)
        for stand in stands[1:]:
            stand.engine.faults.change({"mute_metrics": True})
        engines = [an_engine(stand, n) for n, stand in enumerate(stands, 1)]
        fleet = await stack.enter_async_context(watched(engines))

        few = NoData(Absence.TOO_FEW, "1 of 4 replicas are known")
        load, of_class = await load_when(fleet, lambda _, c: c.queue == few)

        assert of_class.wait_p99 == few
        assert load.kv_usage == few


async def test_s6_one_that_never_answers_delays_no_other_and_no_cycle() -> None:
    async with AsyncExitStack() as stack:
        hanging = await stack.enter_async_context(emulated(faults=Faults(mute=True)))
        quick = await stack.enter_async_context(emulated())
        engines = [an_engine(hanging, 1), an_engine(quick, 2)]
        fleet = await stack.enter_async_context(watched(engines))
        await load_when(fleet, lambda _, c: c.queue.x is not None, within_s=1.5)
        asked = asyncio.get_running_loop().time()

        await fleet.loads()

        assert asyncio.get_running_loop().time() - asked < 0.05


async def test_s7_a_replica_that_is_gone_is_ignored_at_once() -> None:
    async with AsyncExitStack() as stack:
        gone, stays = [await stack.enter_async_context(emulated(slots=1)) for _ in range(2)]
        gone.engine.faults.change({"hang": True})
        stack.callback(lambda tasks: [t.cancel() for t in tasks], gone.begin(10))
        await gone.until(running=1, waiting=9)
        engines = [an_engine(gone, 1), an_engine(stays, 2)]
        fleet = await stack.enter_async_context(watched(engines))
        await load_when(fleet, lambda _, c: c.queue.x == 9.0)

        fleet.follow(engines[1:])
        _, of_class = await load_now(fleet)

        assert isinstance(of_class.queue, Zero)


async def test_s9_what_was_said_too_long_ago_is_stale_with_its_age() -> None:
    async with emulated() as stand, watched([an_engine(stand)]) as fleet:
        await load_when(fleet, lambda _, c: c.queue.x is not None)
        stand.engine.faults.change({"metrics_status": 503})

        load, of_class = await load_when(fleet, lambda _, c: isinstance(c.queue, Stale))

        assert isinstance(of_class.queue, Stale)
        assert of_class.queue.age_s > 5.0
        assert load.notes == ("chat-1: /metrics answers 503",)


async def test_a_look_that_failed_once_is_no_loss_while_the_last_one_is_fresh() -> None:
    async with emulated(slots=1) as stand, watched([an_engine(stand)], rate=1.0) as fleet:
        await load_when(fleet, lambda _, c: c.queue.x is not None)
        stand.engine.faults.change({"metrics_status": 503})
        await asyncio.sleep(1.5)

        _, of_class = await load_now(fleet)

        assert isinstance(of_class.queue, Zero | Value)


async def test_no_replica_in_service_is_no_zero_load() -> None:
    async with emulated() as stand, watched([an_engine(stand, serves=False)]) as fleet:
        await asyncio.sleep(0.3)

        _, of_class = await load_now(fleet)

    assert of_class.queue == of_class.arrivals == NoData(Absence.EMPTY, "no replica in service")
