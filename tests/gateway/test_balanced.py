"""Whoever is admitted finds the slot that is free, whichever replica has it."""

from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from controlplane.domain.gateway import Endpoint
from controlplane.domain.quantities import ReplicaName, Zone
from tests.gateway.engine import Engine
from tests.gateway.running import Front, a_model, a_plan, ask, call, endpoint, running

REPLICAS, ROUNDS = 4, 8
HERE = "127.0.0.1"


def runs(engines: Sequence[Engine], count: int) -> bool:
    return sum(engine.running for engine in engines) == count


async def test_no_request_waits_in_an_engine_while_another_has_a_slot_free(
    tmp_path: Path, front: Front
) -> None:
    """The better of two replicas taken at random would be a full one in most rounds."""
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(Engine()) for _ in range(REPLICAS)]
        at = [endpoint(engine, 1, f"r{n}") for n, engine in enumerate(engines)]
        run = await stack.enter_async_context(running(tmp_path, a_plan(a_model(*at)), **front))
        for _ in range(ROUNDS):
            held = []
            for engine in engines:
                engine.release.clear()
            for count in range(1, REPLICAS + 1):
                held.append(await call(run.port, how="hold"))
                await run.until(partial(runs, engines, count))
            for engine in engines:
                engine.release.set()
            assert {(await made.reply()).status for made in held} == {200}
            await run.quiet()
        assert [engine.most for engine in engines] == [1] * REPLICAS


async def test_the_one_slot_that_is_free_is_taken_again_and_again(
    tmp_path: Path, front: Front
) -> None:
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(Engine()) for _ in range(REPLICAS)]
        at = [endpoint(engine, 1, f"r{n}") for n, engine in enumerate(engines)]
        run = await stack.enter_async_context(running(tmp_path, a_plan(a_model(*at)), **front))
        held = []
        for count in range(1, REPLICAS):  # Envoy counts a request once it has a connection
            held.append(await call(run.port, how="hold"))
            await run.until(partial(runs, engines, count))
        (free,) = [engine for engine in engines if not engine.running]
        for _ in range(20):
            assert (await ask(run.port)).status == 200
        assert free.seen["at-once"] == 20
        for engine in engines:
            engine.release.set()
        assert {(await made.reply()).status for made in held} == {200}
        await run.quiet()


async def test_replicas_of_the_gateways_own_zone_come_first(tmp_path: Path) -> None:
    """With as many gateways as replicas in either zone nothing need cross over."""
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(Engine()) for _ in range(REPLICAS)]
        zones = [Zone("ab"[n % 2]) for n in range(REPLICAS)]
        at = [
            replace(endpoint(engine, 2, f"r{n}"), zone=zone)
            for n, (engine, zone) in enumerate(zip(engines, zones, strict=True))
        ]
        peers = tuple(
            Endpoint(
                replica=ReplicaName(f"g-{zone}"), host=HERE, port=9 + n, slots=1, zone=Zone(zone)
            )
            for n, zone in enumerate("ab")
        )
        plan = a_plan(a_model(*at), zone=Zone("a"), peers=peers)
        run = await stack.enter_async_context(running(tmp_path, plan))
        for _ in range(20):
            assert (await ask(run.port)).status == 200
        by_zone = Counter[str]()
        for engine, zone in zip(engines, zones, strict=True):
            by_zone[zone] += engine.seen["at-once"]
        assert by_zone == {"a": 20, "b": 0}
