"""`controlplane load`: what is refused, what is reported, and the four ways in one run."""

import asyncio
import json
import os
import signal
import sys
from typing import Any

import pytest
from aiohttp import ClientSession

from controlplane.emulation.load.variants import Variant
from tests.cli.filled import Said
from tests.emulation.stand import MODEL, engine_process

SLOTS, SERVICE_S = 4, 0.115  # seconds of a request at the least, whatever was drawn
SPARE_S = 0.5  # the last requests of a busy machine leave after their time
BURST = ("--begin", "29", "--seconds", "4")  # of seed-000, 60 times as fast: low comes at 1 s


async def called(*words: str, stop_at: str = "") -> tuple[int, str]:
    """Run the command as people do; with `stop_at` press Ctrl-C when that engine is asked."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controlplane", "load", *words),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    if stop_at:
        await asked(stop_at)
        process.send_signal(signal.SIGINT)
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


async def asked(engine: str) -> None:
    """Wait until an engine has answered somebody."""
    async with ClientSession() as session, asyncio.timeout(30):
        while True:
            async with session.get(f"{engine}/emulation/state") as answer:
                if (await answer.json())["succeeded"]:
                    return
            await asyncio.sleep(0.05)


def simulated(report: dict[str, Any], variant: str) -> float:
    p99: float = report["expected"][variant]["high"]["wait_p99_s"]
    return p99


def high(report: dict[str, Any], variant: str) -> dict[str, Any]:
    figures: dict[str, Any] = report["runs"][variant]["classes"]["high"]
    return figures


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_in_one_run_high_waits_far_less_by_priority_than_in_one_queue() -> None:
    code, said = await called("--ab", *BURST, "--slots", str(SLOTS), "--json")
    report = json.loads(said)

    assert code == 0
    assert set(report["runs"]) == set(Variant)
    for run in report["runs"].values():
        assert [of["broken"] for of in run["classes"].values()] == [{}, {}, {}]
    # What a busy machine adds, it adds to all of them: the backlog is the difference.
    backlog_s = simulated(report, "fifo") - simulated(report, "priority")
    ours = high(report, "priority")["wait_p99_s"]
    assert backlog_s > 2
    assert high(report, "fifo")["wait_p99_s"] - ours > backlog_s / 2
    assert high(report, "none")["wait_p99_s"] - ours > backlog_s / 2
    assert high(report, "priority")["refused"] == {}
    # A queue refuses nobody; a bucket cannot let more through than it has tokens.
    assert high(report, "fifo")["served"] == high(report, "fifo")["sent"]
    bucket = report["runs"]["bucket"]
    assert set(high(report, "bucket")["refused"]) == {"no-token"}
    served = sum(of["served"] for of in bucket["classes"].values())
    assert served <= SLOTS + (report["seconds"] + SPARE_S) * SLOTS / SERVICE_S
    # The same schedule everywhere, and virtual time beside it.
    assert len({high(report, name)["sent"] for name in report["runs"]}) == 1
    assert report["expected"]["fifo"]["high"]["arrived"] == high(report, "fifo")["sent"]
    assert any("token" in sentence for sentence in report["compared"])


@pytest.mark.slow
async def test_ctrl_c_ends_a_run_and_what_there_is_is_reported() -> None:
    async with engine_process("--slots", "8", "--service-s", "0", "--token-s", "0.01") as engine:
        words = ("--url", engine.url, "--model", MODEL, "--share", "0.05", "--token-s", "0.01")
        code, said = await called(*words, "--json", stop_at=engine.url)
    report = json.loads(said)

    assert code == 130
    assert report["interrupted"] is True
    assert 0 < high(report, "gateway")["sent"] < 10 * 60
    assert high(report, "gateway")["first_byte_p50_s"] < high(report, "gateway")["latency_p50_s"]


@pytest.mark.slow
async def test_the_report_is_a_table_for_people() -> None:
    async with engine_process("--slots", "8", "--service-s", "0.001") as engine:
        words = ("--url", engine.url, "--model", MODEL, "--share", "0.05", "--seconds", "1")
        code, said = await called(*words, "--sse", "low")

    assert code == 0
    assert "seed-000, seed 1, 1 s: 5 % of its requests, calendar 60 x as fast" in said
    (row,) = [line for line in said.splitlines() if line.startswith("gateway    high")]
    assert row.split()[6:9] == ["–", "–", "–"]  # a wait that is not known is no 0


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        ((), 2, "give either --url or --ab"),
        (("--ab", "--url", "http://x"), 2, "give either --url or --ab"),
        (("--url", "gateway:80"), 2, "--url: gateway:80: must be http://HOST:PORT"),
        (("--url", "http://"), 2, "--url: http://: must be http://HOST:PORT"),
        (("--url", "http://u:s3cret@x"), 2, "--url: http://u:***@x: must be http://HOST:PORT"),
        (("--ab", "--share", "nan"), 2, "nan is not finite"),
        (("--ab", "--squeeze", "inf"), 2, "inf is not in the range 0.001<=x<=1000000.0"),
        (("--ab", "--begin", "nan"), 2, "nan is not finite"),
        (("--ab", "--slots", "99999999999"), 2, "99999999999 is not in the range 1<=x<=4096"),
        (("--ab", "--bucket-share", "1e12"), 2, "is not in the range 0.001<=x<=1000"),
        (("--url", "http://x", "--variant", "fifo"), 2, "--variant and --one-by-one are for --ab"),
        (("--ab", "nothing"), 2, "scenario: nothing: must be a file, or one of azure-code"),
        (("--ab", "--seconds", "500"), 2, "the scenario lasts 120 s at squeeze 60"),
        (("--ab", "--share", "0"), 2, "0.0 is not in the range 0<x<=100"),
        (("--ab", "--key", "urgent=s3cret"), 2, "is not CLASS=SECRET, CLASS one of high, medium"),
        (
            ("--url", "http://127.0.0.1:1", "--seconds", "1"),
            1,
            "http://127.0.0.1:1 does not answer",
        ),
        (("--ab", "--envoy", "/no/envoy"), 2, "'/no/envoy' does not exist"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    words: tuple[str, ...], code: int, reason: str, say: Said
) -> None:
    ended, _, said = say("load", *words)

    assert ended == code
    assert reason in said
    assert "s3cret" not in said
