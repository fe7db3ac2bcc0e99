"""What KEDA would ask a Prometheus without us, asked of a real one: exactly one series each."""

from collections.abc import Mapping

from controlplane.adapters.prometheus.client import Prometheus
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.quantities import ModelName
from controlplane.render.triggers import from_prometheus
from controlplane.settings import parse_catalogue
from tests.adapters.prometheus.server import Server, asking, page, until
from tests.emulation.stand import emulated
from tests.render.handover.fleet import TEXT

OTHER = "  qwen-7b-pro: {<<: *chat, profile: seed-004}\n"
POD = "qwen-7b-a100-80g-6b9c-x2x4z"
OTHERS = "qwen-7b-pro-a100-80g-7c8d-p9p8q"


def queries(fleet: Catalogue, name: str) -> Mapping[str, str]:
    return {
        trigger["name"]: trigger["metadata"]["query"]
        for trigger in from_prometheus(ModelName(name), fleet)
    }


async def values(client: Prometheus, asked: Mapping[str, str]) -> Mapping[str, list[str]]:
    return {
        name: [series.last for series in (await client.instant(query)).series]
        for name, query in asked.items()
    }


def labels(pod: str, model: str) -> dict[str, str]:
    return {"pod": pod, "namespace": "inference", "controlplane_dev_model": model}


async def test_each_gives_one_series_of_its_own_model_idle_or_not(server: Server) -> None:
    fleet = parse_catalogue(TEXT.replace("  both:\n", f"{OTHER}  both:\n"), "fleet.yaml")
    asked = queries(fleet, "qwen-7b")
    busy = "".join(
        f'DCGM_FI_DEV_GPU_UTIL{{gpu="0",pod="{pod}",namespace="inference"}} {x}\n'
        for pod, x in ((POD, 40), (OTHERS, 90))
    )
    async with (
        emulated("vllm", slots=1) as engine,
        emulated("vllm", slots=1) as other,
        page(lambda: busy) as exporter,
        asking(server) as client,
    ):
        other.engine.faults.change({"hang": True})
        sent = other.begin(9)
        server.scrape(
            (engine.port, labels(POD, "qwen-7b")),
            (other.port, labels(OTHERS, "qwen-7b-pro")),
            (exporter, {"pod": "dcgm-exporter-x", "namespace": "monitoring"}),
        )

        async def look() -> Mapping[str, list[str]]:
            return await values(client, asked)

        seen = await until(look, lambda seen: all(seen.values()))
        assert seen == {"queue": ["0"], "latency-p99": ["0"], "utilisation": ["40"]}
        for task in sent:
            task.cancel()
