"""`controlplane emulate` as a process: its start, its end, and what goes wrong on purpose."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientError, ClientSession, ServerDisconnectedError

from controlplane.emulation.exposition import gauge, text
from controlplane.emulation.faults import FaultBox, Faults, parse
from tests.emulation.stand import ROOT, Process, Stand, emulated, engine_process

STREAM = {"prompt": "hi", "max_tokens": 20, "stream": True}
QUICK = ("--cold-requests", "0")


async def stream(session: ClientSession, process: Process) -> bytes:
    async with session.post(f"{process.url}/v1/completions", json=STREAM) as answer:
        return await answer.read()


async def running(session: ClientSession, process: Process, count: int) -> None:
    for _ in range(1000):
        async with session.get(f"{process.url}/emulation/state") as answer:
            if (await answer.json())["running"] == count:
                return
        await asyncio.sleep(0.01)
    raise AssertionError("it never ran that many")


async def refused(process: Process) -> None:
    """Wait until nothing new is taken."""
    for _ in range(1000):
        try:
            async with ClientSession() as new, new.get(f"{process.url}/health"):
                await asyncio.sleep(0.01)
        except ClientError:
            return
    raise AssertionError("it went on taking requests")


async def test_told_to_stop_it_ends_what_it_generates_and_takes_nothing_new() -> None:
    async with (
        engine_process("--service-s", "3", *QUICK) as process,
        ClientSession() as session,
        ClientSession() as look,
    ):
        sent = asyncio.create_task(stream(session, process))
        await running(look, process, 1)

        process.process.send_signal(signal.SIGTERM)
        await refused(process)

        assert not sent.done()
        assert (await sent).endswith(b"data: [DONE]\n\n")
        assert await process.process.wait() == 0


async def test_under_abort_on_term_it_ends_at_once() -> None:
    async with (
        engine_process("--service-s", "20", "--abort-on-term", *QUICK) as process,
        ClientSession() as session,
    ):
        sent = asyncio.create_task(stream(session, process))
        await running(session, process, 1)

        process.process.send_signal(signal.SIGTERM)

        async with asyncio.timeout(5):
            assert await process.process.wait() == 0
        with pytest.raises((ClientError, ServerDisconnectedError)):
            await sent


async def test_told_to_stop_while_it_loads_it_ends() -> None:
    async with engine_process("--load-s", "60", "--engine", "vllm", wait=False) as process:
        await asyncio.sleep(1.5)
        process.process.send_signal(signal.SIGTERM)

        async with asyncio.timeout(5):
            await process.process.wait()


async def test_it_dies_of_want_of_memory_when_told_to() -> None:
    async with engine_process() as process, ClientSession() as session:
        fault = {"die_after_s": 0, "exit_code": 137}
        async with session.post(f"{process.url}/emulation/faults", json=fault) as answer:
            assert answer.status == 200

        assert await process.process.wait() == 137


async def test_it_is_light() -> None:
    async with engine_process() as process, ClientSession() as session:
        await stream(session, process)

        assert kilobytes_of(process.process.pid) < 60 * 1024


def kilobytes_of(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(status.split("VmRSS:")[1].split()[0])


def test_it_imports_only_what_it_needs() -> None:
    asked = (
        "import sys, controlplane.cli.emulate, controlplane.emulation.process;"
        "print([m for m in ('numpy', 'sqlalchemy', 'pydantic', 'kubernetes_asyncio', 'grpc',"
        " 'jinja2', 'prometheus_client', 'structlog') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


async def set_faults(stand: Stand, faults: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    async with stand.session.post(f"{stand.url}/emulation/faults", json=faults) as answer:
        return answer.status, await answer.json()


async def test_faults_come_and_go_while_it_runs_and_what_is_not_named_stays() -> None:
    async with emulated() as stand:
        await set_faults(stand, {"error_rate": 1.0})
        _, both = await set_faults(stand, {"metrics_status": 503})

        assert (both["error_rate"], both["metrics_status"]) == (1.0, 503)
        assert await stand.complete() == 500
        assert await stand.get("/metrics") == (503, "0")

        await set_faults(stand, {"error_rate": 0, "metrics_status": None})

        assert await stand.complete() == 200
        assert (await stand.get("/metrics"))[0] == 200


async def test_a_fault_there_is_not_is_refused_with_those_there_are() -> None:
    async with emulated() as stand:
        status, said = await set_faults(stand, {"explode": True})

    assert status == 400
    assert said["error"].startswith("explode: no such fault; there are hang, error_rate")


async def test_a_mute_engine_accepts_and_never_answers_but_can_be_told_to_stop_that() -> None:
    async with emulated(faults=Faults(mute=True)) as stand:
        asked = asyncio.create_task(stand.get("/health"))
        await asyncio.sleep(0.1)
        assert not asked.done()

        await set_faults(stand, {"mute": False})

        assert (await asked)[0] == 200


async def test_a_page_and_cut_json_and_nan_are_what_they_say() -> None:
    async with emulated() as stand:
        await set_faults(stand, {"wrong_json": True})
        _, models = await stand.get("/v1/models")
        await set_faults(stand, {"wrong_json": False, "html": True})
        page = await stand.get("/health")
        await set_faults(stand, {"html": False, "nan_metrics": True})
        _, metrics = await stand.get("/metrics")

    with pytest.raises(json.JSONDecodeError):
        json.loads(models)
    assert page[0] == 200
    assert page[1].startswith("<!doctype html>")
    assert 'vllm:num_requests_waiting{engine="0",model_name="chat"} NaN' in metrics
    assert "vllm:request_success_total{" in metrics
    assert "_total{} NaN" not in metrics


def test_faults_are_read_from_the_command_line() -> None:
    assert parse(("hang", "slow=2.5", "exit_code=137")) == Faults(
        hang=True, slow=2.5, exit_code=137
    )


async def test_who_waits_for_a_change_hears_of_the_next_one() -> None:
    box = FaultBox()
    waiting = asyncio.create_task(box.changed())
    await asyncio.sleep(0)

    box.change({"hang": True})

    await asyncio.wait_for(waiting, 1)


def test_label_values_are_escaped() -> None:
    written = text([gauge("queue", "Waiting.", 2, {"model": 'a"b\\c\nd'})])

    assert written.splitlines()[2] == 'queue{model="a\\"b\\\\c\\nd"} 2.0'
