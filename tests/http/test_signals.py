"""Where signals come from: over the API, and as the command line prints it."""

import asyncio
from dataclasses import replace

import pytest

from controlplane.cli import run
from controlplane.http.state import State
from controlplane.loops.sources import OrderedSignals
from tests.builders import CHAT
from tests.http.conftest import Opened
from tests.loops.test_sources import Fails, Says


@pytest.fixture
async def sourced(state: State) -> State:
    clock = state.clock
    signals = OrderedSignals(
        {"gateway": Fails(), "prometheus": Says(clock, 4.0)},
        lambda: state.in_force.catalogue,
        clock,
        lambda model, signal: f"sum({signal} of {model})",
    )
    await signals.loads()
    return replace(state, signals=signals)


async def test_the_api_says_source_age_query_and_who_was_passed_over(
    sourced: State, opened: Opened
) -> None:
    client = await opened(sourced)
    async with client.get(f"/api/v1/models/{CHAT}/signals") as answer:
        told = await answer.json()

    queue = next(one for one in told["signals"] if one["signal"] == "queue")
    assert (queue["source"], queue["value"], queue["query"]) == (
        "prometheus",
        4.0,
        "sum(queue of chat)",
    )
    assert queue["passed_over"] == [{"source": "gateway", "why": "the gateway is away"}]
    assert told["notes"] == ["gateway: the gateway is away"]


async def test_a_model_there_is_not_is_not_found(sourced: State, opened: Opened) -> None:
    client = await opened(sourced)
    async with client.get("/api/v1/models/nobody/signals") as answer:
        assert answer.status == 404


async def test_the_command_prints_a_line_a_signal(
    sourced: State, opened: Opened, capsys: pytest.CaptureFixture[str]
) -> None:
    client = await opened(sourced)
    url = str(client.make_url("/")).rstrip("/")

    code = await asyncio.to_thread(run, ["signals", CHAT, "--url", url, "--queries"])

    said = capsys.readouterr()
    assert code == 0
    queue = next(line.split() for line in said.out.splitlines() if line.startswith("queue "))
    assert queue[:3] == ["queue", "4", "prometheus"]
    assert queue[4:] == ["s", "old"]
    assert "    gateway was passed over: the gateway is away" in said.out
    assert "    sum(queue of chat)" in said.out
    assert said.err == "note: gateway: the gateway is away\n"
