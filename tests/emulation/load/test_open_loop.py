"""The open loop against real servers: what a stall, a refusal and a broken answer look like."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from controlplane.emulation.load.figures import figures
from controlplane.emulation.load.open_loop import OpenLoop, session
from controlplane.emulation.load.outcomes import Ending, Outcome
from controlplane.emulation.load.sending import Target
from controlplane.emulation.load.wishes import Wish
from tests.emulation.stand import MODEL, emulated

STALL_S, EVERY_S = 1.0, 0.01


async def sent(url: str, schedule: Sequence[Wish], drain_s: float = 10.0) -> list[Outcome]:
    async with session() as opened:
        loop = OpenLoop(opened, [Target(name="it", url=url, model=MODEL)])
        await loop.run(schedule, drain_s)
        return loop.senders[0].book.outcomes


async def test_who_was_due_while_a_server_stalled_counts_what_was_left_of_the_stall() -> None:
    """A closed loop would have sent one request and seen one long answer."""
    schedule = [Wish(n * EVERY_S, 0, 1, streams=False) for n in range(150)]
    async with emulated(slots=1000, service_s=0, kv_tokens=10**6) as stand:
        stand.engine.faults.change({"hang": True})
        async with session() as opened:
            loop = OpenLoop(opened, [Target(name="it", url=stand.url, model=MODEL)])
            running = asyncio.create_task(loop.run(schedule, 10.0))
            while loop.now() < STALL_S:  # noqa: ASYNC110  # it is the clock that is waited for
                await asyncio.sleep(0.01)
            over = loop.now()
            stand.engine.faults.change({"hang": False})
            await running
        outcomes = loop.senders[0].book.outcomes

    assert len(outcomes) == len(schedule)
    assert {one.ending for one in outcomes} == {Ending.SERVED}
    for one in outcomes:  # the ramp: nobody can have been answered before the stall was over
        assert one.latency >= over - one.wish.at
    found = figures(outcomes, None, None)
    assert found["latency_max_s"] >= over
    # 100 of 150 were due in the stall, evenly: the slower half of all waited a quarter of it.
    assert found["latency_p50_s"] >= over - 75 * EVERY_S


async def test_a_late_answer_does_not_hold_up_who_is_due_next() -> None:
    schedule = [Wish(0.0, 0, 50, streams=False), Wish(0.05, 0, 1, streams=False)]
    async with emulated(slots=2, service_s=0, token_s=0.01) as stand:
        first_to_end, last_to_end = await sent(stand.url, schedule)

    assert (first_to_end.wish, last_to_end.wish) == (schedule[1], schedule[0])


async def test_a_stream_is_timed_to_its_first_and_to_its_last_byte() -> None:
    async with emulated(service_s=0, token_s=0.02) as stand:
        (one,) = await sent(stand.url, [Wish(0.0, 0, 10, streams=True)])

    assert one.ending is Ending.SERVED
    assert one.first_byte is not None
    assert one.first_byte >= 0.02
    assert one.latency >= 0.2
    assert one.latency - one.first_byte > 0.1


async def test_who_waits_when_the_run_is_over_counts_with_what_it_waited() -> None:
    async with emulated() as stand:
        stand.engine.faults.change({"hang": True})
        (one,) = await sent(stand.url, [Wish(0.0, 0, 1, streams=False)], drain_s=0.2)

    assert one.ending is Ending.UNFINISHED
    found = figures([one], 0.01, 0.1)
    assert found["unfinished"] == 1
    assert found["latency_max_s"] >= 0.2
    assert found["in_time_ratio"] == 0


async def test_nobody_there_is_said_in_a_sentence() -> None:
    with pytest.raises(OSError, match=r"^load: http://127\.0\.0\.1:1 does not answer: "):
        await sent("http://127.0.0.1:1", [])


@asynccontextmanager
async def answering(**by_class: web.Response | str) -> AsyncIterator[str]:
    """A server that answers each class in its own way."""

    async def serve(request: web.Request) -> web.StreamResponse:
        answer = by_class.get(request.headers.get("x-priority", ""), web.Response())
        if isinstance(answer, web.Response):
            return answer
        if answer == "reset" and request.transport is not None:
            request.transport.abort()
            return web.Response()
        stream = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await stream.prepare(request)
        await stream.write(b"data: {}\n\n")
        return stream

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", serve)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def ended(**by_class: web.Response | str) -> Counter[tuple[str, str]]:
    schedule = [Wish(0.0, rank, 1, streams=True) for rank in range(3)]
    async with answering(**by_class) as url:
        return Counter((one.ending.value, one.reason) for one in await sent(url, schedule))


async def test_refused_is_who_was_told_so_and_all_other_errors_are_broken() -> None:
    full = web.Response(status=429, headers={"x-controlplane-reason": "queue-full"})
    none = web.Response(status=503, headers={"x-controlplane-reason": "no-endpoints"})
    found = await ended(high=full, medium=none, low=web.Response(status=500))

    assert found == Counter(
        {("refused", "queue-full"): 1, ("refused", "no-endpoints"): 1, ("broken", "status-500"): 1}
    )


async def test_half_an_answer_is_broken() -> None:
    found = await ended(high="cut", medium="reset", low=web.Response(status=401))

    assert found[("broken", "incomplete")] == 1
    assert found[("refused", "status-401")] == 1
    assert sum(count for (ending, _), count in found.items() if ending == "broken") == 2
