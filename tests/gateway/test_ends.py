"""Each end of a request frees its slot, on a real Envoy with real sockets (law 9, A2)."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from controlplane.domain.reasons import ReasonCode
from tests.gateway.engine import Engine
from tests.gateway.running import (
    CHAT,
    Front,
    Running,
    a_model,
    a_plan,
    ask,
    call,
    endpoint,
    running,
)

MEGABYTES_4 = b"x" * (4 << 20)


async def one_slot(run: Running) -> None:
    """Nothing waits or runs any more, and the slot is there for the next."""
    await run.quiet()
    reply = await ask(run.port)
    assert reply.status == 200


async def test_a_normal_end_frees_the_slot(tmp_path: Path, front: Front) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine, 1))), **front) as run,
    ):
        for _ in range(20):
            assert (await ask(run.port)).status == 200
        await run.until(lambda: sum(run.counted("ended")) == 20)
        assert engine.most == 1


@pytest.mark.parametrize("way", ["fin", "rst"])
async def test_a2_a_client_that_leaves_while_it_is_served_frees_the_slot(
    way: str, tmp_path: Path, front: Front
) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine, 1))), **front) as run,
    ):
        served = await call(run.port, how="hang")
        await engine.arrived.wait()
        getattr(served, way)()
        await one_slot(run)


@pytest.mark.parametrize("way", ["fin", "rst"])
async def test_a2_a_client_that_leaves_in_the_middle_of_a_stream_frees_the_slot(
    way: str, tmp_path: Path, front: Front
) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine, 1))), **front) as run,
    ):
        streamed = await call(run.port, how="stream")
        assert b" 200 " in await streamed.first_byte()
        getattr(streamed, way)()
        await one_slot(run)


@pytest.mark.parametrize("way", ["fin", "rst"])
@pytest.mark.parametrize("body", [b"", MEGABYTES_4], ids=["no body", "4 MB body"])
async def test_a2_a_client_that_leaves_while_it_waits_leaves_the_queue(
    way: str, body: bytes, tmp_path: Path, front: Front
) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine, 1))), **front) as run,
    ):
        served = await call(run.port, how="hold")
        await engine.arrived.wait()
        waiting = await call(run.port, body=body)
        await run.until(lambda: run.counted("queued") == [1, 0, 0])
        getattr(waiting, way)()
        await run.until(lambda: run.counted("left") == [1, 0, 0])
        engine.release.set()
        assert (await served.reply()).status == 200
        await one_slot(run)
        assert engine.seen["at-once"] == 1  # the one that left never reached the engine


async def test_a_waiting_4_mb_body_arrives_whole(tmp_path: Path, front: Front) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine, 1))), **front) as run,
    ):
        served = await call(run.port, how="hold")
        await engine.arrived.wait()
        waiting = await call(run.port, body=MEGABYTES_4)
        await run.until(lambda: run.counted("queued") == [1, 0, 0])
        engine.release.set()
        await served.reply()
        assert (await waiting.reply()).body == b'{"got": 4194304}'


async def test_an_upstream_reset_frees_the_slot_and_is_never_a_500(
    tmp_path: Path, front: Front
) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine, 1))), **front) as run,
    ):
        reply = await ask(run.port, how="reset")
        assert (reply.status, reply.headers["x-controlplane-reason"]) == (502, "engine-reset")
        await one_slot(run)


async def test_a_deadline_ends_a_waiting_and_a_running_request_with_504(
    tmp_path: Path, front: Front
) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine, 1))), **front) as run,
    ):
        served = asyncio.create_task(ask(run.port, how="hang", x_deadline_s="1.0"))
        await engine.arrived.wait()
        waiting = await ask(run.port, x_deadline_s="0.2")
        assert waiting.status == 504
        assert waiting.headers["x-controlplane-reason"] == "deadline-passed"
        assert (await served).status == 504
        assert run.gateway.plan.models[0].name == CHAT
        await one_slot(run)
        await run.until(lambda: run.refused() == {ReasonCode.DEADLINE_PASSED: 1})


async def test_envoy_killed_frees_every_slot_and_a_new_one_serves(tmp_path: Path) -> None:
    async with Engine() as engine, running(tmp_path, a_plan(a_model(endpoint(engine, 1)))) as run:
        await call(run.port, how="hang")
        await engine.arrived.wait()
        await call(run.port)
        await run.until(lambda: run.counted("queued") == [1, 0, 0])
        envoy = run.gateway.envoy
        assert envoy is not None
        assert envoy.pid is not None
        os.kill(envoy.pid, signal.SIGKILL)
        await run.until(lambda: envoy.starts == 2)
        await one_slot(run)
