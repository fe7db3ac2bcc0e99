"""`serve` asks a real Prometheus; where that says nothing, others are believed."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from controlplane.cli import run
from controlplane.clock import Clock
from controlplane.daemon.signals import Sources
from controlplane.daemon.surroundings import embedded_surroundings
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.sources import PrometheusSource, SignalsPolicy
from controlplane.settings import serve_options
from tests.adapters.prometheus.server import page, prometheus, ready, serving
from tests.adapters.prometheus.server import until as until_so
from tests.builders import a_catalogue
from tests.daemon.served import get, served, until
from tests.settings.fleet_text import SMALL

MODEL = "classifier"
FLEET = SMALL.replace(
    "    team: support\n",
    '    team: support\n    queries: {queue: "sum(my_backlog)"}\n',
) + ("signals:\n  order: [prometheus, engines]\n  fresh_s: 900\n")
NOTHING = {"status": "success", "data": {"resultType": "vector", "result": []}}
DEAD = "http://127.0.0.1:9"


def of(address: str) -> dict[str, Any]:
    told = get(address, f"/models/{MODEL}/signals")
    return {one["signal"]: one for one in told["signals"]}


def said(queue: float) -> Callable[[dict[str, Any]], bool]:
    return lambda told: bool(told) and told["queue"]["value"] == queue


def passed_over(told: dict[str, Any]) -> bool:
    return bool(told) and any(over["why"] != "NotYet" for over in told["queue"]["passed_over"])


async def done(value: list[str]) -> list[str]:
    return value


def ends_with(name: str, told: list[str]) -> bool:
    return told[-1:] == [name]


def empty(asked: list[str], name: str) -> AbstractAsyncContextManager[str]:
    """Be a Prometheus that knows no series, and note who was asked."""

    async def query(_: web.Request) -> web.Response:
        asked.append(name)
        return web.json_response(NOTHING)

    return serving({"/api/v1/query": query})


async def test_the_queue_is_what_prometheus_says_and_the_rest_what_the_engines_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with prometheus(tmp_path) as server:
        await ready(server)
        async with (
            page(lambda: "my_backlog 7\n") as exporter,
            served(tmp_path, FLEET, "--prometheus", server.address) as daemon,
        ):
            server.scrape((exporter, {}))
            told = await until(lambda: of(daemon), said(7.0))
            code = await asyncio.to_thread(run, ["signals", MODEL, "--url", daemon, "--queries"])

    queue, arrivals = told["queue"], told["arrivals"]
    assert (queue["source"], queue["query"]) == ("prometheus", "sum(my_backlog)")
    assert queue["passed_over"] == []
    assert arrivals["source"] == "engines"
    assert [over["source"] for over in arrivals["passed_over"]] == ["prometheus"]
    printed = capsys.readouterr().out
    assert code == 0
    assert "queue                    7  prometheus " in printed
    assert "    sum(my_backlog)" in printed


async def test_s1_a_prometheus_that_is_not_there_is_passed_over_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served(tmp_path, FLEET, "--prometheus", DEAD) as daemon:
        told = await until(lambda: of(daemon), passed_over)
        notes = get(daemon, f"/models/{MODEL}/signals")["notes"]
        code = await asyncio.to_thread(run, ["signals", "nobody", "--url", daemon])

    assert code == 1
    said = f"Error: the daemon at {daemon} answers: model: 'nobody' does not exist\n"
    assert said in capsys.readouterr().err
    assert told["queue"]["source"] == "engines"
    assert f"Unreachable: {DEAD} cannot be asked" in told["queue"]["passed_over"][0]["why"]
    assert any(note.startswith(f"{DEAD} cannot be asked") for note in notes)


async def test_another_prometheus_in_the_fleet_file_is_asked_without_a_restart() -> None:
    options = serve_options({}, {"CONTROLPLANE_DATA": "/nowhere"})
    now, clock = [a_catalogue()], Clock()
    asked: list[str] = []

    def named(address: str | None) -> Catalogue:
        source = None if address is None else PrometheusSource(address=address)
        return replace(a_catalogue(), signals=SignalsPolicy(prometheus=source))

    async with (
        embedded_surroundings(options, now[0], clock) as around,
        empty(asked, "a") as a,
        empty(asked, "b") as b,
    ):
        sources = Sources(options, around, lambda: now[0], lambda: None, clock)
        sources.every_s = 0.01
        following = asyncio.create_task(sources.follow())
        for address, name in ((a, "a"), (b, "b")):
            now[0] = named(address)
            await until_so(partial(done, asked), partial(ends_with, name))
            assert list(sources.table) == ["engines", "prometheus"]
        now[0] = named(None)
        await until_so(lambda: done(list(sources.table)), lambda told: told == ["engines"])
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
