"""Failing replicas and failing models, on a real Envoy (A7, A8, A9)."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from controlplane.decide.replay import decide_again
from controlplane.domain.overrides import Isolation
from controlplane.domain.policies import BreakerPolicy
from controlplane.domain.reasons import ReasonCode
from controlplane.ports import ClusterSettings
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

BY_HAND = Isolation(by="ops", at=0.0, why="corrupt weights")
QUICK = BreakerPolicy(failures=5, open_s=0.5, replica_failures=None)


def idle(engine: Engine) -> bool:
    return not engine.running


async def answered(run: Running, wanted: Callable[[int], bool]) -> None:
    """Ask until the answer is as wanted."""
    status = (await ask(run.port)).status
    while not wanted(status):
        status = (await ask(run.port)).status


def replayed(run: Running) -> bool:
    """Say whether every change, stored and read again, is decided again identically."""
    return all(
        msgspec.structs.replace(decide_again("breakers", msgspec.json.encode(made.seen)), seen=None)
        == msgspec.structs.replace(made, seen=None)
        for made in run.choices
    )


def codes(run: Running) -> list[ReasonCode | None]:
    return [choice.decisive for choice in run.choices]


async def test_a9_a_hundred_429_and_busy_503_leave_the_breaker_closed(
    tmp_path: Path, front: Front
) -> None:
    async with Engine() as engine:
        model = a_model(endpoint(engine, 8), breaker=QUICK)
        async with running(tmp_path, a_plan(model), **front) as run:
            engine.status = 429
            assert [(await ask(run.port)).status for _ in range(100)] == [429] * 100
            engine.status, engine.said = 503, {"retry-after": "1"}
            assert [(await ask(run.port)).status for _ in range(20)] == [503] * 20
            engine.status = 200
            await run.until(lambda: sum(run.counted("ended")) == 120)
            assert (await ask(run.port)).status == 200
            assert codes(run) == []


async def test_a9_broken_503_open_it_one_probe_closes_it(tmp_path: Path, front: Front) -> None:
    async with Engine() as engine:
        model = a_model(endpoint(engine, 8), breaker=QUICK)
        async with running(tmp_path, a_plan(model), **front) as run:
            engine.status = 503
            for _ in range(5):
                assert (await ask(run.port)).status == 503
            await run.until(lambda: ReasonCode.BREAKER_OPENED in codes(run))
            seen = engine.seen.total()
            reply = await ask(run.port)
            assert reply.headers["x-controlplane-reason"] == "breaker-open"
            assert reply.headers["retry-after"] == "1"
            engine.status = 200
            await answered(run, lambda status: status == 200)
            assert engine.seen.total() == seen + 1  # the probe, alone
            await run.until(lambda: ReasonCode.BREAKER_CLOSED in codes(run))
            assert codes(run) == [
                ReasonCode.BREAKER_OPENED,
                ReasonCode.BREAKER_PROBING,
                ReasonCode.BREAKER_CLOSED,
            ]
            assert replayed(run)
            await run.until(lambda: not run.gateway.breakers.shut(0.0))
            assert (await ask(run.port)).status == 200


async def test_whoever_is_refused_hears_how_long_it_still_takes(
    tmp_path: Path, front: Front
) -> None:
    async with Engine() as engine:
        engine.status = 500
        policy = BreakerPolicy(failures=3, open_s=60.0)
        async with running(
            tmp_path, a_plan(a_model(endpoint(engine), breaker=policy)), **front
        ) as run:
            await answered(run, lambda status: status == 503)
            said: list[int] = []
            while len(set(said)) < 3:
                said.append(int((await ask(run.port)).headers["retry-after"]))
            assert said == sorted(said, reverse=True)
            assert said[0] <= 61


async def test_engines_that_cannot_be_reached_open_it_too(tmp_path: Path, front: Front) -> None:
    async with Engine() as engine:
        model = a_model(endpoint(engine, 8), breaker=QUICK)
    async with running(tmp_path, a_plan(model), **front) as run:
        assert [(await ask(run.port)).status for _ in range(5)] == [502] * 5
        await run.until(lambda: ReasonCode.BREAKER_OPENED in codes(run))


async def test_a_model_isolated_by_hand_is_out_and_in_again(tmp_path: Path, front: Front) -> None:
    async with Engine() as engine:
        model = a_model(endpoint(engine))
        async with running(tmp_path, a_plan(model), **front) as run:
            out = msgspec.structs.replace(model, isolated=BY_HAND)
            await run.gateway.update(a_plan(out))
            await answered(run, lambda status: status != 200)
            reply = await ask(run.port)
            assert reply.headers["x-controlplane-reason"] == "breaker-open"
            await run.gateway.update(a_plan(model))
            await answered(run, lambda status: status == 200)
            assert codes(run) == [ReasonCode.ISOLATED, ReasonCode.REJOINED]
            assert replayed(run)


async def test_an_open_breaker_outlives_the_daemon(tmp_path: Path, front: Front) -> None:
    """Law 11: who begins where it stood asks nobody anew, and probes at the same time."""
    slow = BreakerPolicy(failures=5, open_s=30.0, replica_failures=None)
    async with Engine() as engine:
        plan = a_plan(a_model(endpoint(engine, 8), breaker=slow))
        async with running(tmp_path, plan, **front) as run:
            engine.status = 500
            for _ in range(5):
                await ask(run.port)
            await run.until(lambda: ReasonCode.BREAKER_OPENED in codes(run))
            stood = dict(run.gateway.breakers.states)
        engine.status, seen = 200, engine.seen.total()
        async with running(tmp_path, plan, states=stood, **front) as again:
            await answered(again, lambda status: status == 503)
            reply = await ask(again.port)
            assert reply.headers["x-controlplane-reason"] == "breaker-open"
            assert again.gateway.breakers.states == stood
            assert again.choices == []
            assert engine.seen.total() - seen <= 1  # but for what came before the door knew


async def test_a8_of_two_replicas_the_broken_one_is_left_alone_the_only_one_never(
    tmp_path: Path,
) -> None:
    alone = BreakerPolicy(failures=None, replica_failures=3, interval_s=0.2, ejection_s=60.0)
    async with Engine() as good, Engine() as bad:
        bad.status = 500
        two = a_model(endpoint(good, 4), endpoint(bad, 4, "r1"), breaker=alone)
        async with running(tmp_path, a_plan(two)) as run:
            statuses = [(await ask(run.port)).status for _ in range(40)]
            assert await run.gateway.ejected() == {CHAT: 1}
            assert 3 <= statuses.count(500) <= 8  # until it was out; afterwards none
            assert statuses[-20:] == [200] * 20
            await run.gateway.update(a_plan(a_model(endpoint(bad, 4, "r1"), breaker=alone)))
            await answered(run, lambda status: status == 500)  # Envoy has read the files
            seen = bad.seen.total()
            for _ in range(10):
                await ask(run.port)
            assert bad.seen.total() == seen + 10  # it answers badly, but it is all there is


async def test_a7_one_model_that_never_answers_leaves_the_others_alone(
    tmp_path: Path, front: Front
) -> None:
    async with Engine() as good, Engine() as hung:
        silent = BreakerPolicy(silence_s=1.0)
        plan = a_plan(
            a_model(endpoint(good, 8)),
            a_model(endpoint(hung, 2), name="hung", breaker=silent),
        )
        async with running(tmp_path, plan, **front) as run:
            stuck = [await call(run.port, "/models/hung/v1", how="hang") for _ in range(2)]
            await hung.arrived.wait()
            queued = [await call(run.port, "/models/hung/v1") for _ in range(20)]
            assert [(await ask(run.port)).status for _ in range(100)] == [200] * 100
            for made in stuck:
                reply = await made.reply()
                assert (reply.status, reply.headers["x-controlplane-reason"]) == (
                    504,
                    "engine-silent",
                )
            assert {(await made.reply()).status for made in queued} == {200}
            assert sum(run.counted("arrived", CHAT)) <= 100


async def test_engines_restarted_one_by_one_under_load_fail_no_request(
    tmp_path: Path, front: Front
) -> None:
    async with Engine() as one, Engine() as two:
        engines = [one, two]
        both = a_plan(a_model(endpoint(one, 4), endpoint(two, 4, "r1")))
        async with running(tmp_path, both, **front) as run:
            over = asyncio.Event()
            statuses: list[int] = []

            async def load() -> None:
                while not over.is_set():
                    statuses.append((await ask(run.port, how="sleep=0.01")).status)

            async def more(count: int) -> None:
                wanted = len(statuses) + count
                await run.until(lambda: len(statuses) >= wanted)

            clients = [asyncio.create_task(load()) for _ in range(6)]
            for n in (0, 1):
                rest = endpoint(engines[1 - n], 4, f"r{1 - n}")
                await run.gateway.update(a_plan(a_model(rest)))
                await more(30)  # the file has reached Envoy
                await run.until(partial(idle, engines[n]))
                await engines[n].end()
                await engines[n].__aenter__()
                await run.gateway.update(both)
                await more(30)
            over.set()
            await asyncio.gather(*clients)
            assert set(statuses) == {200}


async def test_what_envoy_runs_with_is_what_is_rendered(tmp_path: Path) -> None:
    """Also with the figures of seed-001, and after they have changed."""
    seed = BreakerPolicy(
        replica_failures=3, interval_s=30.0, ejection_s=60.0, pending=10, requests_per_connection=5
    )
    async with Engine() as engine:
        ends = (endpoint(engine, 4), endpoint(engine, 4, "r1"))
        async with running(tmp_path, a_plan(a_model(*ends))) as run:

            async def told() -> list[ClusterSettings]:
                found = await run.gateway.settings(CHAT) or []
                assert [one.name for one in found] == [CHAT, f"{CHAT}~lent"]
                return found

            assert all(one.live == one.rendered for one in await told())
            await run.gateway.update(a_plan(a_model(*ends, breaker=seed)))
            async with asyncio.timeout(10.0):
                while any(one.live != one.rendered for one in await told()):  # noqa: ASYNC110  # Envoy reads files
                    await asyncio.sleep(0)
            rendered = (await told())[0].rendered
            assert '"max_pending_requests": 10' in rendered
            assert '"base_ejection_time": "60s"' in rendered
