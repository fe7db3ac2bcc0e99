"""Devices through a real Prometheus: exporters name pods differently, and some lie about time."""

from collections.abc import Mapping

import pytest

from controlplane.clock import Clock, wall
from controlplane.domain.quantities import ModelName
from controlplane.domain.samples import Sample, Stale
from controlplane.domain.sources import SignalName
from tests.adapters.prometheus.fleet import Scene, labels
from tests.adapters.prometheus.server import Server, asking, page, until
from tests.emulation.stand import emulated

Samples = Mapping[SignalName, Sample]
EXPORTER = {"pod": "dcgm-exporter-x", "namespace": "monitoring"}


def dcgm(pod: str, busy: float, used: float, free: float) -> str:
    of = f'{{gpu="0",UUID="GPU-{pod}",modelName="A100",pod="{pod}",namespace="inference"}}'
    return (
        f"DCGM_FI_DEV_GPU_UTIL{of} {busy}\nDCGM_FI_DEV_FB_USED{of} {used}\n"
        f"DCGM_FI_DEV_FB_FREE{of} {free}\nDCGM_FI_DEV_XID_ERRORS{of} 0\n"
    )


def npu(pod: str, busy: float, at: float | None = None) -> str:
    of = f'{{id="0",model_name="910B3",namespace="inference",pod_name="{pod}"}}'
    stamp = "" if at is None else f" {int(at * 1000)}"
    return (
        f"npu_chip_info_utilization{of} {busy}{stamp}\n"
        f"npu_chip_info_hbm_used_memory{of} 16384{stamp}\n"
        f"npu_chip_info_hbm_total_memory{of} 65536{stamp}\n"
        f"npu_chip_info_health_status{of} 1{stamp}\n"
    )


async def seen(scene: Scene, of: SignalName) -> Samples:
    signals = scene.signals()

    async def look() -> Samples:
        await signals.update()
        return signals.samples(scene.model)

    return await until(look, lambda s: s[of].x is not None)


async def test_dcgm_without_honor_labels_is_joined_by_exported_pod(server: Server) -> None:
    """Prometheus renames the exporter's own `pod` and `namespace`; both GPUs of a replica count."""
    text = dcgm("gpu-0", 90, 30_000, 50_000) + dcgm("gpu-1", 50, 10_000, 70_000)
    async with page(lambda: text) as port, asking(server) as client:
        server.scrape((port, EXPORTER))
        found = await seen(Scene(client, ModelName("gpu"), ["gpu-0", "gpu-1"], "triton"), "vram")

    assert found["utilisation"].x == pytest.approx(0.7)
    assert found["vram"].x == pytest.approx(0.25)
    assert found["device_health"].x == 1.0


async def test_a_preallocating_engines_device_memory_says_nothing(server: Server) -> None:
    text = dcgm("pre-0", 10, 72_000, 8_000)
    async with page(lambda: text) as port, asking(server) as client:
        server.scrape((port, EXPORTER))
        found = await seen(Scene(client, ModelName("pre"), ["pre-0"], "vllm"), "utilisation")

    assert found["vram"].x is None


async def test_ascends_exporter_says_pod_name(server: Server) -> None:
    async with page(lambda: npu("npu-0", 60)) as port, asking(server) as client:
        server.scrape((port, {"pod": "npu-exporter-x", "namespace": "kube-system"}))
        found = await seen(Scene(client, ModelName("npu"), ["npu-0"], "mindie"), "utilisation")

    assert found["utilisation"].x == pytest.approx(0.6)


async def test_a_series_with_a_time_of_its_own_grows_old_and_is_said_to(server: Server) -> None:
    """Explicit timestamps know no staleness marker: the last value stays for five minutes."""
    at = wall() - 90
    async with page(lambda: npu("old-0", 60, at)) as port, asking(server) as client:
        server.scrape((port, {"pod": "npu-exporter-x", "namespace": "kube-system"}))
        signals = Scene(client, ModelName("old"), ["old-0"], "mindie", fresh_s=60).signals()

        async def look() -> Sample:
            await signals.update()
            return signals.samples(ModelName("old"))["utilisation"]

        found = await until(look, lambda sample: isinstance(sample, Stale))
    assert isinstance(found, Stale)
    assert 85 < found.age_s < 130


@pytest.mark.parametrize("skew", [-30.0, 30.0])
async def test_half_a_minute_between_two_clocks_changes_nothing(
    server: Server, skew: float
) -> None:
    name = ModelName(f"skew{int(skew)}")
    clock = Clock()
    honest = clock.now
    clock.now = lambda: honest() + skew  # type: ignore[method-assign]  # a clock that is wrong
    async with page(lambda: dcgm(f"{name}-0", 90, 1, 1)) as port, asking(server) as client:
        server.scrape((port, EXPORTER))
        scene = Scene(client, name, [f"{name}-0"], "triton", fresh_s=20, clock=clock)
        found = await seen(scene, "utilisation")

    assert found["utilisation"].x == pytest.approx(0.9)


async def test_a_counter_that_resets_and_a_pod_that_is_replaced_give_no_wrong_rate(
    server: Server,
) -> None:
    name = ModelName("reset")
    async with asking(server) as client:
        signals = Scene(client, name, ["reset-0", "reset-1"], "sglang").signals()

        async def look() -> Samples:
            await signals.update()
            return signals.samples(name)

        async with emulated("sglang", service_s=0.01) as first:
            server.scrape(
                (first.port, labels("reset-0", name)), (first.port, labels("reset-1", name))
            )
            for task in first.begin(20):
                await task
            await until(look, lambda s: s["arrivals"].x is not None)
        async with emulated("sglang", service_s=0.01) as second:  # anew, and counting from 0
            server.scrape((second.port, labels("reset-0", name)))
            rates = [(await look())["arrivals"].x for _ in range(40)]

    assert all(rate is None or 0 <= rate < 50 for rate in rates)


async def test_renamed_labels_are_a_setting(server: Server) -> None:
    text = 'DCGM_FI_DEV_GPU_UTIL{gpu="0",workload="re-0",ns="inference"} 30\n'
    more = {"pod_labels": ("workload",), "namespace_labels": ("ns",)}
    async with page(lambda: text) as port, asking(server, **more) as client:
        server.scrape((port, EXPORTER))
        found = await seen(Scene(client, ModelName("re"), ["re-0"], "other"), "utilisation")

    assert found["utilisation"].x == pytest.approx(0.3)


async def test_labels_that_name_nobody_are_said_with_the_setting_that_helps(
    server: Server,
) -> None:
    text = 'DCGM_FI_DEV_GPU_UTIL{gpu="0",workload="re-0"} 30\n'
    async with page(lambda: text) as port, asking(server, pod_labels=("nope",)) as client:
        server.scrape((port, {}))
        signals = Scene(client, ModelName("re"), ["re-0"], "other").signals()

        async def look() -> str:
            await signals.update()
            return " ".join(signals.notes)

        told = await until(look, bool)
    assert "name neither replica nor model: set pod_labels and model_label" in told
