"""Signals through a real Prometheus that scrapes real, emulated engines."""

from collections.abc import Mapping

import pytest

from controlplane.adapters.prometheus.reading import NO_LONGER
from controlplane.domain.quantities import ModelName
from controlplane.domain.samples import IDLE, Absence, NoData, Sample, Value, Zero
from controlplane.domain.serving import EngineKind
from controlplane.domain.sources import SignalName
from controlplane.emulation.faults import Faults
from tests.adapters.prometheus.fleet import Scene, labels
from tests.adapters.prometheus.server import Server, asking, page, until
from tests.emulation.stand import emulated

Samples = Mapping[SignalName, Sample]


@pytest.mark.parametrize(
    ("kind", "face"),
    [
        ("vllm", "vllm"),
        ("vllm", "vllm-old"),
        ("sglang", "sglang"),
        ("tgi", "tgi"),
        ("triton", "triton"),
        ("mindie", "mindie"),
        ("tensorrt-llm", "tensorrt-llm"),
    ],
)
async def test_queue_and_running_of_every_engine(
    server: Server, kind: EngineKind, face: str
) -> None:
    name = ModelName(f"m-{face.replace('.', '-')}")
    async with (
        emulated(face, slots=2, ranks=2 if face == "sglang" else 1) as one,
        emulated(face, slots=2) as two,
        asking(server) as client,
    ):
        pods = [f"{name}-{n}" for n in range(2)]
        server.scrape(*zip((one.port, two.port), (labels(p, name) for p in pods), strict=True))
        one.engine.faults.change({"hang": True})
        two.engine.faults.change({"hang": True})
        sent = [*one.begin(5), *two.begin(4)]
        await one.until(2, 3)
        await two.until(2, 2)
        signals = Scene(client, name, pods, kind).signals()

        async def look() -> Samples:
            await signals.update()
            return signals.samples(name)

        seen = await until(look, lambda s: s["queue"].x == 5)
        if kind != "triton":
            assert seen["in_flight"].x == 4
        for task in sent:
            task.cancel()


async def test_data_parallel_ranks_add_up_and_those_that_share_a_request_do_not(
    server: Server,
) -> None:
    name = ModelName("m-ranks")
    told = {("0", "0"): 3, ("0", "1"): 3, ("1", "0"): 2, ("1", "1"): 2}
    text = "".join(
        f'sglang:num_queue_reqs{{model_name="m",dp_rank="{dp}",tp_rank="{tp}"}} {x}\n'
        for (dp, tp), x in told.items()
    )
    async with page(lambda: text) as port, asking(server) as client:
        server.scrape((port, labels("m-ranks-0", name)))
        signals = Scene(client, name, ["m-ranks-0"], "sglang").signals()

        async def look() -> Samples:
            await signals.update()
            return signals.samples(name)

        await until(look, lambda s: s["queue"].x == 5)


async def test_latency_service_time_and_arrivals_of_requests_that_really_ran(
    server: Server,
) -> None:
    name = ModelName("m-latency")
    async with emulated("sglang", slots=4, service_s=0.2) as engine, asking(server) as client:
        server.scrape((engine.port, labels("m-latency-0", name)))
        signals = Scene(client, name, ["m-latency-0"], "sglang").signals()

        async def look() -> Samples:
            for task in engine.begin(2):
                await task
            await signals.update()
            return signals.samples(name)

        seen = await until(
            look, lambda s: s["latency_p99"].x is not None and (s["arrivals"].x or 0) > 0.5
        )
        assert 0.1 < (seen["latency_p99"].x or 0) < 2.0
        assert seen["service_s"].x == pytest.approx(0.2, abs=0.15)


async def test_s3_an_idle_models_percentile_is_idle_and_its_count_is_zero(server: Server) -> None:
    name = ModelName("m-idle")
    async with emulated("vllm") as engine, asking(server) as client:
        server.scrape((engine.port, labels("m-idle-0", name)))
        signals = Scene(client, name, ["m-idle-0"]).signals()

        async def look() -> Samples:
            await signals.update()
            return signals.samples(name)

        seen = await until(look, lambda s: s["arrivals"].x is not None)
        assert seen["latency_p99"] == IDLE
        assert isinstance(seen["arrivals"], Zero)
        assert isinstance(seen["queue"], Zero)


async def test_a_percentile_below_the_first_bucket_is_never_made_up(server: Server) -> None:
    """vLLM's first bucket is 0.3 s; the model's requests take 10 ms, and 100 ms is promised."""
    name = ModelName("m-buckets")
    async with emulated("vllm", service_s=0.01) as engine, asking(server) as client:
        server.scrape((engine.port, labels("m-buckets-0", name)))
        signals = Scene(client, name, ["m-buckets-0"]).signals()

        async def look() -> Samples:
            for task in engine.begin(2):
                await task
            await signals.update()
            return signals.samples(name)

        seen = await until(
            look, lambda s: s["wait_p99"] != IDLE and s["arrivals"].x not in {None, 0}
        )
        assert isinstance(seen["wait_p99"], NoData)
        assert "0.3 s, the finest bucket there is; 0.1 s is promised" in seen["wait_p99"].note


@pytest.mark.parametrize("face", ["vllm", "vllm-old"])
async def test_s8_the_kv_cache_by_its_new_name_and_by_its_old(server: Server, face: str) -> None:
    name = ModelName(f"m-kv-{face.replace('.', '-')}")
    async with emulated(face, slots=2, kv_tokens=100) as engine, asking(server) as client:
        server.scrape((engine.port, labels(f"{name}-0", name)))
        engine.engine.faults.change({"hang": True})
        sent = engine.begin(2)
        signals = Scene(client, name, [f"{name}-0"]).signals()

        async def look() -> Samples:
            await signals.update()
            return signals.samples(name)

        seen = await until(look, lambda s: (s["kv_usage"].x or 0) > 0)
        assert isinstance(seen["kv_usage"], Value)
        for task in sent:
            task.cancel()


async def test_s8_with_neither_name_both_are_named(server: Server) -> None:
    name = ModelName("m-kv-none")
    async with emulated("vllm", faults=Faults(hide="cache_usage")) as engine, asking(server) as ask:
        server.scrape((engine.port, labels("m-kv-none-0", name)))
        signals = Scene(ask, name, ["m-kv-none-0"]).signals()

        async def look() -> Samples:
            await signals.update()
            return signals.samples(name)

        seen = await until(look, lambda s: s["queue"].x is not None)
        assert seen["kv_usage"] == NoData(
            Absence.NOT_EXPORTED, "vllm:kv_cache_usage_perc, vllm:gpu_cache_usage_perc"
        )


async def test_s6_three_of_four_speak_for_all_and_one_of_four_does_not(server: Server) -> None:
    name, pods = ModelName("m-few"), [f"m-few-{n}" for n in range(4)]
    async with emulated("vllm", slots=1) as engine, asking(server) as client:
        engine.engine.faults.change({"hang": True})
        sent = engine.begin(4)
        await engine.until(1, 3)
        signals = Scene(client, name, pods).signals()

        async def look() -> Samples:
            await signals.update()
            return signals.samples(name)

        server.scrape(*((engine.port, labels(pod, name)) for pod in pods[:3]))
        seen = await until(look, lambda s: s["queue"].x is not None)
        assert seen["queue"].x == 12  # three with 3 each speak for the fourth

        server.scrape((engine.port, labels(pods[0], name)))
        seen = await until(look, lambda s: s["queue"].x is None)
        assert seen["queue"] == NoData(Absence.TOO_FEW, "1 of 4 replicas are known")
        for task in sent:
            task.cancel()


async def test_what_is_scraped_no_longer_is_no_news_though_its_rates_go_on(server: Server) -> None:
    """A rate lasts as long as its window has two samples of a series that has ended."""
    name = ModelName("m-ended")
    async with emulated("vllm") as engine, asking(server, window_s=120) as client:
        server.scrape((engine.port, labels("m-ended-0", name)))
        signals = Scene(client, name, ["m-ended-0"]).signals()

        async def look() -> Samples:
            await signals.update()
            return signals.samples(name)

        await until(look, lambda s: s["arrivals"].x is not None and s["queue"].x is not None)
        server.scrape()
        seen = await until(look, lambda s: s["queue"].x is None)

        assert seen["arrivals"] == NO_LONGER
        assert seen["queue"] == NoData(Absence.EMPTY, "vllm:num_requests_waiting")


async def test_s7_a_deleted_pod_that_haunts_the_store_does_not_count(server: Server) -> None:
    name = ModelName("m-ghost")
    async with emulated("vllm", slots=1) as engine, asking(server) as client:
        engine.engine.faults.change({"hang": True})
        sent = engine.begin(10)
        await engine.until(1, 9)
        ghost, alive = labels("m-ghost-0", name), labels("m-ghost-1", name)
        server.scrape((engine.port, ghost), (engine.port, alive))
        signals = Scene(client, name, ["m-ghost-1"]).signals()

        async def look() -> Samples:
            await signals.update()
            return signals.samples(name)

        seen = await until(look, lambda s: s["queue"].x is not None)
        assert seen["queue"].x == 9
        for task in sent:
            task.cancel()
