"""Variants to be rendered: a plain one, and one that uses everything there is."""

from dataclasses import replace
from decimal import Decimal

from controlplane.domain.catalogue import Catalogue, Model, Need, NodeClass, Runtime, Variant
from controlplane.domain.policies import ModelPolicy
from controlplane.domain.quantities import ClassName, ModelName, Team
from controlplane.domain.serving import Container, Health, Serving, Weights
from controlplane.render.placing import Ground
from controlplane.render.pod import Placed, placed

PLAIN, EVERYTHING = ModelName("embed"), ModelName("llama-70b")
T4, NPU = ClassName("T4"), ClassName("Ascend-910B3")
SPACE = "models"

CATALOGUE = Catalogue(
    node_classes={
        T4: NodeClass(
            vendor="nvidia",
            resource="nvidia.com/gpu",
            vram_gib=15,
            price_per_hour=Decimal("0.53"),
            runtime=Runtime(kind="cuda", version="12.8"),
            labels={"nvidia.com/gpu.product": "(NVIDIA-|Tesla-)?T4.*"},
        ),
        NPU: NodeClass(
            vendor="ascend",
            resource="huawei.com/Ascend910",
            vram_gib=64,
            price_per_hour=Decimal("3.60"),
            runtime=Runtime(kind="cann", version="8.5.0"),
            labels={"node.kubernetes.io/npu.chip.name": "910B3"},
            taints=("example.com/inference",),
        ),
    },
    models={
        PLAIN: Model(
            team=Team("search"),
            need=Need(vram_gib=4),
            variants={
                T4: Variant(
                    image="registry.example.com/search/embed:2",
                    runtime=Runtime(kind="cuda", version="12.8"),
                    slots=8,
                    service_s=0.05,
                )
            },
        ),
        EVERYTHING: Model(
            team=Team("assistants"),
            need=Need(vram_gib=200),
            tensor_parallel=(4,),
            policy=ModelPolicy(),
            variants={
                NPU: Variant(
                    image="quay.io/ascend/vllm-ascend:v0.13.0",
                    runtime=Runtime(kind="cann", version="8.5.0"),
                    slots=24,
                    service_s=8.0,
                    load_s=400.0,
                    container=Container(
                        command=("vllm", "serve"),
                        args=("/models/llama-70b", "--tensor-parallel-size=4"),
                        env={"VLLM_USE_V1": "1", "HCCL_BUFFSIZE": "512"},
                        secret_env={"HF_TOKEN": "hub/token"},
                    ),
                )
            },
            serving=Serving(
                port=8000,
                metrics_port=8002,
                tls=True,
                health=Health(how="models", timeout_s=3.5),
                longest_request_s=600,
                pre_stop_s=15,
                weights=Weights(kind="claim", name="weights-70b"),
                pre_pull="image-volume",
                spread="strict",
                scheduled_by="volcano",
                queue="assistants",
                cpu="16",
                memory="256Gi",
            ),
        ),
    },
)

SEEN = Ground(
    values={"nvidia.com/gpu.product": ("Tesla-T4", "NVIDIA-T4-SHARED", "Tesla-T4")},
    hosts=("gpu-1", "gpu-2"),
    taints=("nvidia.com/mig", "node.kubernetes.io/unreachable"),
    with_image=("gpu-2",),
)


def plain(ground: Ground = SEEN) -> Placed:
    return placed(CATALOGUE, (PLAIN, T4), 1, SPACE, ground)


def everything() -> Placed:
    return placed(CATALOGUE, (EVERYTHING, NPU), 4, SPACE)


def weighed(weights: Weights) -> Placed:
    """Give the plain one with its weights beside it."""
    of = plain()
    return replace(of, model=replace(of.model, serving=Serving(weights=weights)))
