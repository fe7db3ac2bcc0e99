"""The emulated engine generates: queue, slots, streams, cache, service laws, clients that leave."""

import asyncio
import json
from statistics import mean

import pytest

from controlplane.emulation.faults import Faults
from controlplane.emulation.service_times import ServiceTimes
from controlplane.emulation.spec import EngineSpec
from tests.emulation.stand import MODEL, Stand, emulated


async def streamed(stand: Stand, tokens: int, *, path: str = "/v1/completions") -> list[str]:
    body = {"prompt": "hi", "max_tokens": tokens, "stream": True}
    body["stream_options"] = {"include_usage": True}
    async with stand.session.post(f"{stand.url}{path}", json=body) as answer:
        assert answer.status == 200
        assert answer.content_type == "text/event-stream"
        text = (await answer.read()).decode()
    events = [event.removeprefix("data: ") for event in text.split("\n\n") if event]
    assert all(not event.startswith("data:") for event in events)
    return events


async def test_a_completion_is_as_long_as_was_asked_and_says_so() -> None:
    async with emulated() as stand:
        body = {"model": MODEL, "prompt": "hello world!", "max_tokens": 5}
        async with stand.session.post(f"{stand.url}/v1/completions", json=body) as answer:
            said = await answer.json()

    assert said["object"] == "text_completion"
    assert said["model"] == MODEL
    assert said["choices"][0]["finish_reason"] == "length"
    assert said["usage"] == {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}


@pytest.mark.parametrize("tokens", [1, 200])
async def test_a_stream_sends_every_token_by_itself_then_the_usage_then_the_end(
    tokens: int,
) -> None:
    async with emulated(service_s=0.1) as stand:
        *pieces, usage, done = await streamed(stand, tokens)

    assert len(pieces) == tokens
    assert done == "[DONE]"
    assert json.loads(usage)["usage"]["completion_tokens"] == tokens
    endings = [json.loads(piece)["choices"][0]["finish_reason"] for piece in pieces]
    assert endings == [None] * (tokens - 1) + ["length"]


async def test_the_first_token_of_a_stream_comes_long_before_the_last() -> None:
    body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 10, "stream": True}
    async with emulated(service_s=0.5) as stand:
        loop = asyncio.get_running_loop()
        url, began = f"{stand.url}/v1/chat/completions", loop.time()
        async with stand.session.post(url, json=body) as answer:
            first = await answer.content.readline()
            first_at = loop.time() - began
            await answer.read()
            last_at = loop.time() - began

    assert json.loads(first.removeprefix(b"data: "))["choices"][0]["delta"]["content"] == "The"
    assert first_at < 0.4 < last_at


async def test_no_more_are_generated_at_once_than_there_are_slots() -> None:
    async with emulated(slots=2, faults=Faults(hang=True)) as stand:
        sent = stand.begin(5)
        await stand.until(running=2, waiting=3)

        stand.engine.faults.change({"hang": False})

        assert await asyncio.gather(*sent) == [200] * 5
        assert stand.engine.book.histograms["queue"].count == 5


async def test_a_prompt_waits_for_room_in_the_cache_though_a_slot_is_free() -> None:
    async with emulated(slots=4, kv_tokens=100, faults=Faults(hang=True)) as stand:
        prompt = "x" * 240  # 60 tokens
        sent = [asyncio.create_task(stand.complete(prompt=prompt)) for _ in range(2)]

        await stand.until(running=1, waiting=1)

        stand.engine.faults.change({"hang": False})
        assert await asyncio.gather(*sent) == [200, 200]


@pytest.mark.parametrize("stream", [False, True])
async def test_clients_that_leave_all_at_once_free_their_slots_and_places(stream: bool) -> None:
    async with emulated(slots=2, faults=Faults(hang=True)) as stand:
        sent = [asyncio.create_task(stand.complete(stream=stream)) for _ in range(30)]
        await stand.until(running=2, waiting=28)

        for task in sent:
            task.cancel()
        await stand.until(running=0, waiting=0)

        assert stand.engine.book.ended["abort"] == 30
        stand.engine.faults.change({"hang": False})
        assert await asyncio.gather(*stand.begin(6)) == [200] * 6


@pytest.mark.parametrize(("engine", "status"), [("vllm", 503), ("sglang", 503), ("tgi", 429)])
async def test_a_full_queue_is_refused_in_the_engines_own_way(engine: str, status: int) -> None:
    async with emulated(engine, slots=1, queue_limit=1, faults=Faults(hang=True)) as stand:
        sent = stand.begin(2)
        await stand.until(running=1, waiting=1)

        assert await stand.complete() == status
        assert await stand.complete(stream=True) == status

        assert stand.engine.book.refused == 2
        for task in sent:
            task.cancel()


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"max_tokens": 0}', b'{"max_tokens": "x"}'])
async def test_what_is_no_request_is_400(body: bytes) -> None:
    async with (
        emulated() as stand,
        stand.session.post(f"{stand.url}/v1/completions", data=body) as answer,
    ):
        assert answer.status == 400
        assert (await answer.json())["error"]["type"] == "BadRequestError"


async def test_another_model_is_404_and_one_that_still_loads_503() -> None:
    async with emulated("sglang", loaded=False) as stand:
        assert await stand.complete(model="llama") == 404
        assert await stand.complete() == 503
        assert json.loads((await stand.get("/v1/models"))[1])["data"] == []


@pytest.mark.parametrize(
    ("engine", "path"),
    [("tgi", "/generate"), ("sglang", "/generate"), ("triton", "/v2/models/chat/infer")],
)
async def test_an_engine_has_its_own_call_beside_openais(engine: str, path: str) -> None:
    body = {"inputs": "hi", "parameters": {"max_new_tokens": 4}}
    async with (
        emulated(engine) as stand,
        stand.session.post(f"{stand.url}{path}", json=body) as answer,
    ):
        assert (await answer.json())["generated_text"] == "The fleet is warm"
        assert stand.engine.book.generation_tokens == 4


async def test_a_sleeping_engine_holds_requests_until_it_wakes() -> None:
    async with emulated(may_sleep=True, wake_s=0.01) as stand:
        await stand.session.post(f"{stand.url}/sleep?level=1&mode=wait")
        sent = stand.begin()
        await stand.until(running=0, waiting=1)
        _, asleep = await stand.get("/is_sleeping")

        async with stand.session.post(f"{stand.url}/wake_up") as answer:
            woken = await answer.json()

        assert json.loads(asleep) == {"is_sleeping": True}
        assert woken["status"] == "awake"
        assert await sent[0] == 200


async def test_sleep_is_not_there_unless_the_engine_was_started_for_it() -> None:
    async with emulated() as stand:
        assert (await stand.get("/is_sleeping"))[0] == 404


def test_a_cold_engine_is_slower_and_warms_evenly() -> None:
    times = ServiceTimes(EngineSpec(model=MODEL, service_s=1.0, cold_factor=2.5, cold_requests=100))

    drawn = [times.draw(1) for _ in range(120)]

    assert drawn[0] == 2.5
    assert drawn[50] == 1.75
    assert drawn[100:] == [1.0] * 20


@pytest.mark.parametrize("law", ["fixed", "exponential", "lognormal"])
def test_each_law_has_the_mean_it_was_given(law: str) -> None:
    spec = EngineSpec(model=MODEL, service_s=0.2, cold_requests=0, service_law=law)  # type: ignore[arg-type]  # one of them
    times = ServiceTimes(spec)

    assert mean(times.draw(1) for _ in range(20_000)) == pytest.approx(0.2, rel=0.03)


def test_the_same_seed_draws_the_same_times() -> None:
    spec = EngineSpec(model=MODEL, service_law="exponential", seed=7)
    one, two = ServiceTimes(spec), ServiceTimes(spec)

    assert [one.draw(1) for _ in range(50)] == [two.draw(1) for _ in range(50)]


def test_tokens_take_their_time_too() -> None:
    times = ServiceTimes(EngineSpec(model=MODEL, service_s=0.5, token_s=0.01, cold_requests=0))

    assert times.draw(200) == pytest.approx(2.5)
