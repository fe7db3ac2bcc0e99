"""Workers that share slots through a real Valkey, and what happens when it dies (A5)."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from controlplane.domain.gateway import Endpoint
from controlplane.domain.quantities import ModelName, ReplicaName
from controlplane.gateway.desk import Desk
from controlplane.gateway.door import Door
from controlplane.gateway.entry import Entry, Stage
from controlplane.gateway.sharing import Sharing
from controlplane.ports import UnavailableError
from controlplane.ports.shares import Grant, Wish
from tests.adapters.redis.server import Valkey
from tests.gateway.engine import Engine
from tests.gateway.running import Front, a_model, a_plan, ask, call, endpoint, running

WIRED = "controlplane.cli.admission_worker"


async def test_a5_valkey_dies_under_load_no_request_fails_and_all_is_well_when_it_returns(
    tmp_path: Path, front: Front
) -> None:
    async with Valkey() as valkey, Engine() as engine:
        plan = a_plan(a_model(endpoint(engine, 4), queue_bounds={}))
        options = {"workers": 2, "shared": valkey.url, "worker": WIRED, **front}
        async with running(tmp_path, plan, **options) as run:
            over, statuses = asyncio.Event(), list[int]()

            async def load() -> None:
                while not over.is_set():
                    statuses.append((await ask(run.port, how="sleep=0.01")).status)

            clients = [asyncio.create_task(load()) for _ in range(8)]
            await run.until(lambda: run.gateway.counts.shared_s[0] > 5)
            most_shared = engine.most
            await valkey.kill()
            await run.until(lambda: run.gateway.counts.degraded)
            seen = len(statuses)
            await run.until(lambda: len(statuses) > seen + 40)
            engine.most = 0
            await valkey.start()
            await run.until(lambda: not run.gateway.counts.degraded)
            seen = len(statuses)
            await run.until(lambda: len(statuses) > seen + 40)
            over.set()
            await asyncio.gather(*clients)
            assert set(statuses) == {200}
            assert most_shared <= 4  # together the workers ran no more than there are
            assert engine.most <= 4  # nor while a server that knew nobody heard of each of them
            assert run.gateway.ready
            await run.quiet()


async def test_two_workers_without_anything_to_share_by_take_halves(
    tmp_path: Path, front: Front
) -> None:
    async with Engine() as engine:
        plan = a_plan(a_model(endpoint(engine, 4)))
        async with running(tmp_path, plan, workers=2, **front) as run:
            held = [await call(run.port, how="hold") for _ in range(12)]
            await run.until(lambda: sum(run.counted("queued")) + sum(run.counted("running")) == 12)
            assert engine.most <= 4
            engine.release.set()
            assert {(await made.reply()).status for made in held} == {200}
            await run.quiet()


async def test_a_part_of_less_than_a_slot_is_a_slot(tmp_path: Path, front: Front) -> None:
    async with Engine() as engine:
        plan = a_plan(a_model(endpoint(engine, 1)))
        async with running(tmp_path, plan, workers=2, **front) as run:
            asked = [asyncio.create_task(ask(run.port, how="sleep=0.01")) for _ in range(12)]
            assert {(await reply).status for reply in asked} == {200}
            await run.quiet()


async def test_what_weighs_more_than_a_part_but_fits_a_replica_is_served(
    tmp_path: Path, front: Front
) -> None:
    async with Engine() as engine:
        plan = a_plan(a_model(endpoint(engine, 4), tokens_per_slot=100))
        async with running(tmp_path, plan, workers=2, **front) as run:
            for tokens, status in ((350, 200), (450, 400)):
                body = b"word" * tokens
                assert (await ask(run.port, body=body)).status == status
            await run.quiet()


async def test_nothing_is_ours_before_it_was_granted_or_refused() -> None:
    """Two that began at once would each fill all slots."""
    door = Door(lambda _model, _why: None, share=0.5)
    sharing = Sharing(door, Refusing())
    replicas = (Endpoint(replica=ReplicaName(n), host="h", port=1, slots=4) for n in "ab")
    door.serve(a_plan(a_model(*replicas)))
    desk, first = enter(door)

    assert (desk.admission.slots, first.stage) == (0, Stage.WAITING)

    working = asyncio.create_task(sharing.run())
    async with asyncio.timeout(20):
        while not sharing.degraded:  # noqa: ASYNC110  # it tells nobody
            await asyncio.sleep(0.005)
    working.cancel()
    assert (desk.admission.slots, first.stage) == (4, Stage.RUNNING)
    desk.end(first)


class Refusing:
    """Nobody is there."""

    async def ask(self, wishes: Mapping[ModelName, Wish]) -> Mapping[ModelName, Grant]:
        raise UnavailableError(f"nobody heard of {', '.join(wishes)}")

    async def leave(self) -> None:
        pass


def enter(door: Door) -> tuple[Desk, Entry]:
    given = door.enter({":path": "/models/chat/v1/completions", "authorization": "Bearer key-high"})
    assert isinstance(given, tuple)
    return given
