"""What a Prometheus may say instead of an answer: never a wrong number."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from controlplane.adapters.prometheus.client import Prometheus, QueryError
from controlplane.adapters.prometheus.reading import NO_LONGER
from controlplane.clock import stopwatch
from controlplane.domain.quantities import ModelName
from controlplane.domain.samples import Absence, Bad, NoData, Sample, Stale, known
from controlplane.domain.sources import PrometheusSource
from tests.adapters.prometheus.fleet import Scene
from tests.adapters.prometheus.server import Server, asking, serving

GOOD = '{"status":"success","data":{"resultType":"vector","result":[%s]}}'
NAME = ModelName("chat")


def vector(*pairs: tuple[str, str]) -> str:
    rows = [f'{{"metric":{{{labels}}},"value":[1700000000,"{value}"]}}' for labels, value in pairs]
    return GOOD % ",".join(rows)


ROW = '"namespace":"inference","pod":"chat-0","part":"value"'
AGE = ROW.replace('"value"', '"age"')
OF_MODEL = '"controlplane_dev_model":"chat","part":"value"'


@asynccontextmanager
async def answering(
    answer: Callable[[web.Request], Awaitable[web.StreamResponse]], timeout_s: float = 3.0
) -> AsyncIterator[Prometheus]:
    """Ask a server that answers like this."""
    async with serving({"/api/v1/query": answer}) as address:
        source = PrometheusSource(address=address, timeout_s=timeout_s)
        async with Prometheus(source) as client:
            yield client


async def samples(
    body: str, status: int = 200, kind: str = "application/json"
) -> Mapping[str, Sample]:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body, status=status, content_type=kind)

    async with answering(answer) as client:
        signals = Scene(client, NAME, ["chat-0"]).signals()
        await signals.update()
        return {str(key): sample for key, sample in signals.samples(NAME).items()}


async def test_s5_503_with_the_body_0_is_no_zero() -> None:
    found = await samples("0", status=503)

    assert isinstance(found["queue"], NoData)
    assert found["queue"].why is Absence.UNREACHABLE


async def test_s5_200_with_a_page_is_bad() -> None:
    found = await samples("<html><body>Welcome</body></html>", kind="text/html")

    assert isinstance(found["queue"], Bad)
    assert "<html>" in found["queue"].raw


@pytest.mark.parametrize("raw", ["NaN", "+Inf", "-Inf", "", "-3", "many"])
async def test_s4_what_is_no_number_never_becomes_one(raw: str) -> None:
    found = await samples(vector((ROW, raw)))

    assert isinstance(found["queue"], Bad)
    assert not known(found["kv_usage"])


async def test_s1_an_empty_vector_is_no_data() -> None:
    found = await samples(vector())

    assert isinstance(found["queue"], NoData)
    assert found["queue"].why is Absence.EMPTY


@pytest.mark.parametrize("rows", [[(ROW, "4")], [(ROW, "4"), (AGE, "NaN")]])
async def test_a_number_of_unknown_age_is_no_news(rows: list[tuple[str, str]]) -> None:
    found = await samples(vector(*rows))

    assert found["queue"] == NO_LONGER


@pytest.mark.parametrize(
    "body",
    [
        "null",
        "[]",
        "",
        '{"status":"success"}',
        '{"status":"success","data":null}',
        '{"status":"success","data":{"resultType":"vector","result":{}}}',
        '{"status":"success","data":{"resultType":"scalar","result":[1]}}',
        GOOD % '{"metric":{"pod":7},"value":[1,"7"]}',
        GOOD % '{"metric":{},"value":[1,7]}',
        "[" * 100_000,
        '{"status":"success","more":' + "[" * 100_000,
    ],
    ids=range(11),
)
async def test_json_that_is_no_answer_is_bad_however_deep(body: str) -> None:
    found = await samples(body)

    assert isinstance(found["queue"], Bad)


@pytest.mark.parametrize("token", [b"\xff\xfe", b"one\ntwo"])
async def test_a_token_file_that_holds_no_token_is_said(token: bytes, tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(token)
    source = PrometheusSource(address="http://127.0.0.1:1", token_file=str(tmp_path / "token"))
    async with Prometheus(source) as client:
        signals = Scene(client, NAME, ["chat-0"]).signals()
        await signals.update()

    assert signals.notes == (
        f"signals.prometheus.token_file: {tmp_path / 'token'} is no line of text",
    )


async def test_s3_a_nan_percentile_without_a_count_is_not_idle() -> None:
    found = await samples(vector((OF_MODEL, "NaN")))

    assert isinstance(found["latency_p99"], Bad)


async def test_s9_an_old_sample_is_stale_with_its_age() -> None:
    found = await samples(vector((ROW, "4"), (AGE, "95.5")))

    assert found["queue"] == Stale(95.5)


async def test_a_token_that_is_not_good_enough_is_said() -> None:
    found = await samples("denied", status=403)

    assert isinstance(found["queue"], NoData)
    assert found["queue"].why is Absence.FORBIDDEN
    assert "token_file" in found["queue"].note


async def test_a_warning_of_a_partial_answer_is_shown_and_the_answer_used() -> None:
    body = vector((ROW, "7"), (AGE, "2")).replace(
        '"success",', '"success","warnings":["store s3 is away"],'
    )

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body, content_type="application/json")

    async with answering(answer) as client:
        signals = Scene(client, NAME, ["chat-0"]).signals()
        await signals.update()

    assert signals.samples(NAME)["queue"].x == 7
    assert signals.notes == ("store s3 is away",)


async def test_s2_a_server_that_is_gone_is_no_data_with_its_address() -> None:
    async with Prometheus(PrometheusSource(address="http://127.0.0.1:1")) as client:
        signals = Scene(client, NAME, ["chat-0"]).signals()
        await signals.update()

    found = signals.samples(NAME)["queue"]
    assert isinstance(found, NoData)
    assert found.note.startswith("http://127.0.0.1:1 cannot be asked")


async def test_a_server_that_takes_ten_seconds_holds_up_nobody() -> None:
    async def answer(_: web.Request) -> web.Response:
        await asyncio.sleep(10)
        return web.Response()

    async with answering(answer, timeout_s=0.3) as client:
        signals = Scene(client, NAME, ["chat-0"]).signals()
        asked = asyncio.create_task(signals.update())
        await asyncio.sleep(0)
        began = stopwatch()
        loads = await signals.loads()
        assert stopwatch() - began < 0.1  # from memory, while the question is still open
        assert not known(loads[NAME].in_flight)
        await asked

    found = signals.samples(NAME)["queue"]
    assert isinstance(found, NoData)
    assert "did not answer within 0.3 s" in found.note


async def test_a_query_that_does_not_parse_is_said_in_the_servers_words(server: Server) -> None:
    async with asking(server) as client:
        with pytest.raises(QueryError, match=r"bad_data: .*parse error"):
            await client.instant("sum(")


async def test_a_range_query_gives_every_point(server: Server) -> None:
    async with asking(server) as client:
        answer = await client.range("vector(3)", 1_700_000_000, 1_700_000_060, 30)

    assert [point.value for point in answer.series[0].points] == ["3", "3", "3"]


async def test_a_range_of_too_many_points_is_refused_before_it_is_asked() -> None:
    async with Prometheus(PrometheusSource(address="http://127.0.0.1:1")) as client:
        with pytest.raises(QueryError, match="more than the 11000"):
            await client.range("up", 0, 1e6, 1)
