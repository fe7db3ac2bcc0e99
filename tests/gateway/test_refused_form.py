"""Whoever refuses, admission, Envoy or the proxy: one form, one limit, and never a 500."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from controlplane.domain.entrances import GatewayPolicy
from tests.gateway.engine import Engine
from tests.gateway.running import (
    CHAT,
    OPEN,
    Call,
    Front,
    Reply,
    a_model,
    a_plan,
    ask,
    endpoint,
    running,
)

JSON = "application/json"
POLICY = GatewayPolicy(longest_body=1000, longest_headers_kib=4, most_headers=30)


def told(reply: Reply) -> tuple[int, str]:
    """Status and reason; the body must be what clients of the OpenAI API read."""
    error = msgspec.json.decode(reply.body)["error"]
    reason = reply.headers["x-controlplane-reason"]
    assert reply.headers["content-type"] == JSON
    assert (error["code"], error["type"]) == (reply.status, reason)
    assert error["message"].endswith(".")
    return reply.status, reason


async def raw(port: int, sent: bytes) -> Reply:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    made = Call(reader, writer)
    OPEN.append(made)
    return await made.reply()


async def test_a_body_whose_length_nobody_said_is_judged_like_any_other(
    tmp_path: Path, front: Front
) -> None:
    async with Engine() as engine:
        model = a_model(endpoint(engine), prompt_limit=100)
        async with running(tmp_path, a_plan(model, policy=POLICY), **front) as run:
            assert told(await ask(run.port, body=b"x" * 1001, chunked=True)) == (
                413,
                "body-too-large",
            )
            long = await ask(run.port, body=b"x" * 404, chunked=True)
            assert told(long) == (400, "prompt-too-long")
            assert b"101 tokens and 100 are allowed" in long.body

            named = msgspec.json.encode({"model": CHAT, "prompt": "x" * 404})
            more = {"body": named, "chunked": True, "content_type": JSON}
            assert told(await ask(run.port, "/v1/completions", **more)) == (400, "prompt-too-long")

            good = await ask(run.port, body=b"x" * 400, chunked=True)
            assert (good.status, msgspec.json.decode(good.body)) == (200, {"got": 400})
            assert (await ask(run.port, chunked=True)).status == 200


async def test_a_named_models_body_is_refused_at_the_same_length(
    tmp_path: Path, front: Front
) -> None:
    body = msgspec.json.encode({"model": CHAT, "prompt": "x" * 2000})
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine)), policy=POLICY), **front) as run,
    ):
        for chunked in (False, True):
            more = {"body": body, "chunked": chunked, "content_type": JSON}
            large = await ask(run.port, "/v1/completions", **more)
            assert told(large) == (413, "body-too-large")
        assert engine.seen.total() == 0


async def test_headers_too_long_or_too_many_are_431_and_nonsense_is_400(
    tmp_path: Path, front: Front
) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine)), policy=POLICY), **front) as run,
    ):
        refused = (431, "headers-too-large")
        assert told(await ask(run.port, x_a="a" * 6000)) == refused
        spread = {f"x_{n}": "a" * 500 for n in range(12)}
        assert told(await ask(run.port, **spread)) == refused
        assert told(await ask(run.port, **{f"x_{n}": "a" for n in range(40)})) == refused
        nonsense = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: no\r\n\r\n"
        assert told(await raw(run.port, nonsense)) == (400, "bad-request")
        assert engine.seen.total() == 0


async def test_what_the_engine_did_not_answer_is_told_in_the_same_form(
    tmp_path: Path, front: Front
) -> None:
    async with Engine() as engine:
        gone = endpoint(engine, name="gone")
        await engine.end()
        async with Engine() as other:
            plan = a_plan(a_model(gone), a_model(endpoint(other), name="other"))
            async with running(tmp_path, plan, **front) as run:
                assert told(await ask(run.port)) == (502, "engine-unreachable")
                broken = await ask(run.port, "/models/other/v1", how="reset")
                assert told(broken) == (502, "engine-reset")
                late = await ask(run.port, "/models/other/v1", how="hang", x_deadline_s="0.2")
                assert told(late) == (504, "deadline-passed")


@pytest.mark.parametrize(
    "body",
    [
        b'{"model": ' + b"[" * 50_000,
        b'{"model": null}',
        b'{"model": ["chat"]}',
        b'{"model": "\xff"}',
        b"[]",
        b"",
    ],
    ids=["deep", "null", "list", "no text", "no object", "nothing"],
)
async def test_a_body_that_names_no_model_is_404(body: bytes, tmp_path: Path, front: Front) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine))), **front) as run,
    ):
        found = await ask(run.port, "/v1/completions", body=body, content_type=JSON)
        assert told(found) == (404, "unknown-model")


async def test_wished_lengths_that_are_no_numbers_are_the_engines_to_refuse(
    tmp_path: Path, front: Front
) -> None:
    body = b'{"model": "chat", "max_tokens": "many"}'
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine), tokens_per_slot=100)), **front) as run,
    ):
        asked = await ask(run.port, "/v1/completions", body=body, content_type=JSON)
        assert (asked.status, engine.seen.total()) == (200, 1)


@pytest.mark.parametrize("header", ["authorization", "x_api_key"])
async def test_a_key_that_is_no_text_is_unknown(header: str, tmp_path: Path, front: Front) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine))), **front) as run,
    ):
        odd = {header: "Bearer caf\xe9\xff"}
        assert told(await ask(run.port, key=None, **odd)) == (401, "key-unknown")


async def test_of_two_prefixes_the_longer_one_says_which_model(
    tmp_path: Path, front: Front
) -> None:
    async with Engine() as engine, Engine() as other:
        plan = a_plan(
            msgspec.structs.replace(a_model(endpoint(engine)), prefix="/llm"),
            msgspec.structs.replace(a_model(endpoint(other), name="other"), prefix="/llm/other"),
        )
        async with running(tmp_path, plan, **front) as run:
            assert (await ask(run.port, "/llm/other/v1/a")).status == 200
            assert (await ask(run.port, "/llm/v1/b")).status == 200
            named = msgspec.json.encode({"model": CHAT})
            beside = await ask(run.port, "/llmodels/v1", body=named, content_type=JSON)
            assert beside.status == 200
            assert (other.paths, engine.paths) == (["/v1/a"], ["/v1/b", "/llmodels/v1"])
