"""Queries of people's own on a real Prometheus: what is wrong with one, and which would work."""

from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from controlplane.adapters.prometheus.client import Prometheus
from controlplane.adapters.prometheus.own_query import metrics_in, several
from controlplane.domain.quantities import ModelName
from controlplane.domain.samples import IDLE, Bad, Sample, reading
from controlplane.domain.sources import Queries, SignalName
from tests.adapters.prometheus.fleet import Scene
from tests.adapters.prometheus.server import Server, asking, until

NAME = ModelName("chat")
PAGE = """\
my_backlog{model="chat",zone="a"} 3
my_backlog{model="chat",zone="b"} 4
my_backlog{model="whisper",zone="a"} 9
my_seconds_bucket{le="1"} 0
my_seconds_bucket{le="+Inf"} 0
my_seconds_count 0
my_ended_total 0
"""


class Exporter(BaseHTTPRequestHandler):
    """Gives the page, whatever is asked."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(PAGE.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def exporter(one_server: Server) -> Iterator[int]:
    """Scrape one exporter for all tests of the file; gives its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Exporter) as server:
        running = Thread(target=server.serve_forever, daemon=True)
        running.start()
        one_server.scrape((server.server_port, {}))
        yield server.server_port
        server.shutdown()


@pytest.fixture
async def own(server: Server, exporter: int) -> AsyncIterator[Prometheus]:
    """Give a client of a server that has scraped the page."""
    assert exporter
    async with asking(server) as client:

        async def scraped() -> int:
            return len((await client.instant("my_backlog")).series)

        await until(scraped, lambda count: count == 3)
        yield client


async def becomes(
    client: Prometheus, queries: Queries, signal: SignalName, good: Callable[[Sample], bool]
) -> Sample:
    """Look until a sample is as it should be: a scrape may fail once in a while."""

    async def look() -> Sample:
        signals = Scene(client, NAME, ["chat-0"], queries=queries).signals()
        await signals.update()
        return signals.samples(NAME)[signal]

    return await until(look, good)


async def test_it_goes_before_the_fleets(own: Prometheus) -> None:
    query = 'sum(my_backlog{model="chat"})'
    signals = Scene(own, NAME, ["chat-0"], queries={"queue": query}).signals()

    await becomes(own, {"queue": query}, "queue", lambda found: found.x == 7)
    assert signals.query_of(NAME, "queue") == query


@pytest.mark.parametrize(
    ("signal", "fold"), [("queue", "sum"), ("vram", "avg"), ("wait_p99", "max")]
)
async def test_several_series_are_one_sentence_with_a_query_that_gives_one(
    own: Prometheus, signal: SignalName, fold: str
) -> None:
    query = "max by(zone)(my_backlog)"
    one = f"{fold}({query})"
    told = Bad(f'{query} gave 2 series (zone="a"; zone="b"); {one} gives one')

    assert await becomes(own, {signal: query}, signal, lambda found: found == told) == told
    assert (await becomes(own, {signal: one}, signal, lambda found: found.x is not None)).x


async def test_percentiles_of_each_pod_are_never_added_up(own: Prometheus) -> None:
    query = "histogram_quantile(0.99, rate(vllm:e2e_request_latency_seconds_bucket[1m]))"
    two = await own.instant("sum by(zone)(my_backlog)")

    assert several(two, query, "latency_p99").endswith(
        "histogram_quantile(0.99, sum by (le) "
        "(rate(vllm:e2e_request_latency_seconds_bucket[1m]))) gives one"
    )


@pytest.mark.parametrize(
    ("query", "why", "would"),
    [
        ("sum(my_backlgo)", ": no metric is called my_backlgo", "sum(my_backlog)"),
        ("sum(avg_over_time(my_backlgo[1m]))", ": no metric is called my_backlgo",
         "sum(avg_over_time(my_backlog[1m]))"),
        ("sum(entirely_different)", ": no metric is called entirely_different", ""),
        ('sum(my_backlog{modle="chat"})',
         ": no my_backlog has a label modle, but __name__, instance, job and 2 more",
         'sum(my_backlog{model="chat"})'),
        ('sum(my_backlog{model="caht"})', ': no my_backlog has model="caht", but chat, whisper',
         'sum(my_backlog{model="chat"})'),
        ('sum(my_backlog{zone="a",model="llama-70b"})',
         ': no my_backlog has model="llama-70b", but chat, whisper', ""),
        ('sum(my_backlog{model="whisper",zone="b"})', "", ""),
        ("my_backlog > 100", "", ""),
    ],
)  # fmt: skip
async def test_no_series_is_one_sentence_with_what_is_wrong_and_what_would_work(
    own: Prometheus, query: str, why: str, would: str
) -> None:
    told = Bad(f"{query} gave no series{why}{f'; {would} would' if would else ''}")

    assert await becomes(own, {"queue": query}, "queue", lambda found: found == told) == told


async def test_s3_a_percentile_of_an_idle_model_is_idle_by_its_own_queries_too(
    own: Prometheus,
) -> None:
    queries: Queries = {
        "arrivals": "sum(rate(my_ended_total[4s]))",
        "latency_p99": "histogram_quantile(0.99, sum by (le) (rate(my_seconds_bucket[4s])))",
    }

    await becomes(own, queries, "latency_p99", lambda found: found == IDLE)
    alone: Queries = {"latency_p99": queries["latency_p99"]}
    await becomes(own, alone, "latency_p99", lambda found: found == reading("NaN", 0.0))


@pytest.mark.parametrize(
    ("query", "metrics"),
    [
        ("up", ("up",)),
        ('sum by (job) (rate(a_total{x="b_c"}[5m])) / on(job) group_left(z) b_total',
         ("a_total", "b_total")),
        ('label_replace(vector(1), "pod", "my_pod", "", "")', ()),
        ("avg without(instance) (vllm:num_requests_waiting offset 5m) > 1e3 or Inf",
         ("vllm:num_requests_waiting",)),
        ("histogram_quantile(0.99, sum by (le) (rate(a_bucket[1m]))) and on() b @ end()",
         ("a_bucket", "b")),
    ],
)  # fmt: skip
def test_functions_labels_and_keywords_are_no_metrics(query: str, metrics: tuple[str, ...]) -> None:
    assert metrics_in(query) == metrics
