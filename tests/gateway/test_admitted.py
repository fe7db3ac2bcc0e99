"""Who is admitted, who waits, who is refused and what they are told, on a real Envoy."""

import asyncio
from functools import partial
from pathlib import Path

import msgspec

from controlplane.domain.entrances import GatewayPolicy
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ModelName
from controlplane.domain.reasons import ReasonCode
from tests.gateway.engine import Engine
from tests.gateway.running import (
    CHAT,
    KEYS,
    Call,
    Front,
    Reply,
    Running,
    a_key,
    a_model,
    a_plan,
    ask,
    call,
    endpoint,
    running,
)


def bounds(**of: int) -> dict[Priority, int]:
    return {Priority(name): bound for name, bound in of.items()}


async def busy(run: Running, engine: Engine) -> Call:
    """Let one request hold the only slot."""
    held = await call(run.port, how="hold")
    await engine.arrived.wait()
    return held


def waiting_are(run: Running, n: int) -> bool:
    return sum(run.counted("queued")) == n


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.glob("*.json")}


def told(reply: Reply) -> tuple[int, str]:
    return reply.status, reply.headers["x-controlplane-reason"]


async def test_a1_without_replicas_a_full_queue_is_503_with_them_429(
    tmp_path: Path, front: Front
) -> None:
    narrow = bounds(high=1, medium=1, low=1)
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(queue_bounds=narrow)), **front) as run,
    ):
        waiting = await call(run.port)
        await run.until(lambda: run.counted("queued") == [1, 0, 0])
        reply = await ask(run.port)
        assert told(reply) == (503, "no-endpoints")
        assert reply.headers["retry-after"].isdigit()
        assert (CHAT, "waiting") in run.breaches  # somebody waits and nobody serves: at once

        await run.gateway.update(a_plan(a_model(endpoint(engine, 1), queue_bounds=narrow)))
        assert (await waiting.reply()).status == 200
        held = await busy(run, engine)
        await call(run.port)
        await run.until(lambda: run.counted("queued") == [1, 0, 0])
        reply = await ask(run.port)
        assert told(reply) == (429, "queue-full")
        assert reply.headers["retry-after"].isdigit()
        assert (CHAT, "turned-away") in run.breaches
        engine.release.set()
        assert (await held.reply()).status == 200


async def test_a3_the_one_beyond_the_bound_is_refused_and_one_that_leaves_makes_room(
    tmp_path: Path, front: Front
) -> None:
    model = a_model(queue_bounds=bounds(high=50))
    async with Engine() as engine, running(tmp_path, a_plan(model), **front) as run:
        waiting = [await call(run.port) for _ in range(50)]
        await run.until(lambda: run.counted("queued") == [50, 0, 0])
        assert told(await ask(run.port))[0] == 503  # no replica yet: no capacity, not contended
        waiting[7].fin()
        await run.until(lambda: run.counted("queued") == [49, 0, 0])
        last = await call(run.port)
        await run.until(lambda: run.counted("queued") == [50, 0, 0])
        await run.gateway.update(a_plan(a_model(endpoint(engine, 8), queue_bounds=bounds(high=50))))
        assert (await last.reply()).status == 200
        waiting.pop(7)
        assert {(await made.reply()).status for made in waiting} == {200}
        assert engine.most <= 8


async def test_a6_a_header_only_lowers_what_the_key_says(tmp_path: Path, front: Front) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine))), **front) as run,
    ):
        for key, header in (
            ("key-medium", "high"),  # medium
            ("key-medium", "nonsense"),  # medium, counted
            ("key-high", "low"),  # low
            ("key-high", "MEDIUM"),  # medium
            ("key-high", ""),  # high: nothing is nonsense, counted
        ):
            assert (await ask(run.port, key=key, x_priority=header)).status == 200
        await run.until(lambda: run.counted("ended") == [1, 3, 1])
        assert sum(run.counted("malformed")) == 2


async def test_a6_closed_networks_may_trust_the_header_and_no_key_is_low(
    tmp_path: Path, front: Front
) -> None:
    trusting = GatewayPolicy(trust="headers")
    async with Engine() as engine:
        model = msgspec.structs.replace(
            a_model(endpoint(engine)), request_types={"chat": Priority.HIGH}
        )
        async with running(tmp_path / "keys", a_plan(model), **front) as run:
            assert (await ask(run.port, key=None, x_priority="high")).status == 200
            assert (await ask(run.port, key=None, x_request_type="chat")).status == 200
            await run.until(lambda: run.counted("ended") == [0, 0, 2])
        async with running(tmp_path / "headers", a_plan(model, policy=trusting), **front) as run:
            assert (await ask(run.port, key=None)).status == 200
            assert (await ask(run.port, key=None, x_priority="medium")).status == 200
            assert (await ask(run.port, key=None, x_request_type="chat")).status == 200
            await run.until(lambda: run.counted("ended") == [1, 1, 1])


async def test_high_goes_before_medium_before_low(tmp_path: Path, front: Front) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine, 1))), **front) as run,
    ):
        held = await busy(run, engine)
        waiting = []
        for n, key in enumerate(("key-low", "key-medium", "key-high"), 1):
            waiting.append(await call(run.port, key=key, x_class=key))
            await run.until(partial(waiting_are, run, n))
        engine.release.set()
        await held.reply()
        assert [(await made.reply()).status for made in waiting] == [200] * 3
        assert [seen for seen in engine.seen if seen.startswith("key")] == [
            "key-high",
            "key-medium",
            "key-low",
        ]


async def test_tenants_of_one_class_take_turns(tmp_path: Path, front: Front) -> None:
    keys = (*KEYS, a_key("flood", Priority.HIGH), a_key("quiet", Priority.HIGH))
    async with Engine() as engine:
        plan = msgspec.structs.replace(a_plan(a_model(endpoint(engine, 1))), keys=keys)
        async with running(tmp_path, plan, **front) as run:
            await take_turns(run, engine)


async def take_turns(run: Running, engine: Engine) -> None:
    held = await busy(run, engine)
    waiting = []
    for n, key in enumerate(("flood", "flood", "flood", "quiet"), 1):
        waiting.append(await call(run.port, key=key, x_class=f"{key}{n}"))
        await run.until(partial(waiting_are, run, n))
    engine.release.set()
    await held.reply()
    assert [(await made.reply()).status for made in waiting] == [200] * 4
    assert [seen for seen in engine.seen if seen != "hold"] == [
        "flood1",
        "quiet4",
        "flood2",
        "flood3",
    ]


async def test_what_cannot_be_served_is_told_why(tmp_path: Path, front: Front) -> None:
    policy = GatewayPolicy(longest_body=1000, require_key=True)
    secret = a_key("narrow", Priority.LOW, models=(ModelName("other"),))
    model = a_model(prompt_limit=100)
    async with Engine() as engine:
        served = msgspec.structs.replace(model, endpoints=(endpoint(engine),))
        plan = msgspec.structs.replace(
            a_plan(served, a_model(name="other"), policy=policy), keys=(*KEYS, secret)
        )
        async with running(tmp_path, plan, **front) as run:
            unknown = await ask(run.port, "/models/nobody/v1")
            assert told(unknown) == (404, "unknown-model")
            assert msgspec.json.decode(unknown.body)["error"]["models"] == ["chat", "other"]
            hidden = await ask(run.port, key="narrow")
            assert told(hidden) == (404, "unknown-model")
            assert msgspec.json.decode(hidden.body)["error"]["models"] == ["other"]
            assert told(await ask(run.port, key="stolen")) == (401, "key-unknown")
            assert told(await ask(run.port, key=None)) == (401, "key-unknown")
            large = await ask(run.port, body=b"x" * 1001)
            assert told(large) == (413, "body-too-large")
            long = await ask(run.port, body=b"x" * 404)
            assert told(long) == (400, "prompt-too-long")
            assert b"101 tokens and 100 are allowed" in long.body
            many = await ask(run.port, **{f"x_{n}": "y" for n in range(120)})
            assert many.status == 431
            assert (await ask(run.port, body=b"x" * 400)).status == 200
            await run.until(lambda: run.refused() == {ReasonCode.PROMPT_TOO_LONG: 1})
            assert run.gateway.counts.unplaced == {
                ReasonCode.UNKNOWN_MODEL: 2,
                ReasonCode.KEY_UNKNOWN: 2,
                ReasonCode.BODY_TOO_LARGE: 1,
            }


async def test_a_model_is_found_by_host_prefix_its_name_and_the_name_in_the_body(
    tmp_path: Path, front: Front
) -> None:
    async with Engine() as engine:
        model = msgspec.structs.replace(
            a_model(endpoint(engine)), hosts=("chat.local",), prefix="/talk", names=("gpt-x",)
        )
        async with running(tmp_path, a_plan(model), **front) as run:
            for path, more in (
                ("/v1/a", {"host": "chat.local:80"}),
                ("/talk/v1/b?c=d", {}),
                ("/models/chat/v1/e", {}),
            ):
                assert (await ask(run.port, path, **more)).status == 200
            for name in ("chat", "gpt-x"):
                body = msgspec.json.encode({"messages": [], "model": name})
                found = await ask(run.port, "/v1/f", body=body, content_type="application/json")
                assert found.status == 200
            assert engine.paths == ["/v1/a", "/v1/b?c=d", "/v1/e", "/v1/f", "/v1/f"]


async def test_a_forged_ticket_and_ways_around_are_refused_and_keys_stay_here(
    tmp_path: Path,
) -> None:
    async with Engine() as engine, running(tmp_path, a_plan(a_model(endpoint(engine)))) as run:
        forged = {
            "x_admission_ticket": run.gateway.site.secret,
            "x_controlplane_cluster": CHAT,
        }
        assert (await ask(run.port, "/anything", **forged)).status == 404
        assert (await ask(run.port)).status == 200
        assert engine.seen.total() == 1
        seen = {name.lower() for name in engine.headers[0]}
        assert seen.isdisjoint({"authorization", "x-admission-ticket", "x-controlplane-cluster"})


async def test_spares_that_lend_serve_low_alone(tmp_path: Path, front: Front) -> None:
    async with Engine() as serving, Engine() as spare:
        model = a_model(endpoint(serving, 1), endpoint(spare, 1, "r1", lending=True), ageing_s=None)
        async with running(tmp_path, a_plan(model), **front) as run:
            held = [await call(run.port, how="hold", key="key-high") for _ in range(2)]
            await serving.arrived.wait()
            assert (await ask(run.port, key="key-low")).status == 200
            assert spare.seen.total() == 1
            serving.release.set()
            assert {(await made.reply()).status for made in held} == {200}
            assert spare.seen.total() == 1


async def test_a_plan_with_a_fault_is_refused_and_the_old_one_goes_on(
    tmp_path: Path, front: Front
) -> None:
    async with (
        Engine() as engine,
        running(tmp_path, a_plan(a_model(endpoint(engine))), **front) as run,
    ):
        before = files(tmp_path)
        broken = a_plan(a_model(endpoint(engine), endpoint(engine)))
        refused = await asyncio.gather(run.gateway.update(broken), return_exceptions=True)
        assert str(refused[0]) == "gateway: models.chat.endpoints: r0: is there 2 times"
        assert files(tmp_path) == before
        assert (await ask(run.port)).status == 200


async def test_a_running_low_request_makes_room_for_high_where_that_is_wished(
    tmp_path: Path, front: Front
) -> None:
    async with Engine() as engine:
        plan = a_plan(a_model(endpoint(engine, 2)), policy=GatewayPolicy(evict=True))
        async with running(tmp_path, plan, **front) as run:
            first = await call(run.port, how="hold", key="key-low")
            await run.until(lambda: sum(run.counted("running")) == 1)
            last = await call(run.port, how="hold", key="key-low")
            await run.until(lambda: sum(run.counted("running")) == 2)
            assert (await ask(run.port)).status == 200
            reply = await last.reply()
            assert told(reply) == (429, "evicted")
            assert reply.headers["retry-after"] == "15"
            engine.release.set()
            assert (await first.reply()).status == 200
            await run.until(lambda: run.counted("evicted") == [0, 0, 1])
            assert ReasonCode.EVICTED not in run.refused()  # it had been admitted
