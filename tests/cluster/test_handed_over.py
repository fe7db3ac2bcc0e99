"""What KEDA, HPAs and Istio are given is taken by a real API server with their real definitions."""

from pathlib import Path
from typing import Any

import pytest

from controlplane.domain.handover import TriggerKind
from controlplane.domain.quantities import ModelName
from controlplane.render.corrections import corrected
from controlplane.render.destination_rule import destination_rule
from controlplane.render.hpa import hpas
from controlplane.render.scaled_object import Hold, scaled_objects
from controlplane.settings import parse_catalogue
from controlplane.settings.manifests import read_manifests
from tests.cluster.api import Api, RefusedError
from tests.cluster.manifests import define
from tests.render.handover.fleet import TEXT, a_fleet
from tests.render.handover.seeds import SEED_001, SEED_004

ROOT = Path(__file__).parents[2]
FLEET = a_fleet()
CHAT = ModelName("chat")
KINDS: tuple[TriggerKind, ...] = ("target", "drain", "wait_p99", "weighted_depth", "prometheus")


async def test_every_scaled_object_is_taken_strictly(api: Api, namespace: str) -> None:
    await define(api, "keda")
    for name in FLEET.models:
        for made in scaled_objects(name, FLEET, namespace):
            await api.apply(made)
    for kind in KINDS:
        for made in scaled_objects(CHAT, FLEET, namespace, kind, Hold(replicas=0)):
            await api.apply(made)


@pytest.mark.parametrize(
    ("group", "file"),
    [
        ("keda", "keda/scaled-objects.yaml"),
        ("istio", "istio/destination-rules.yaml"),
        ("prometheus-operator", "prometheus/operator.yaml"),
    ],
)
async def test_what_is_shown_with_the_example_is_taken_strictly(
    api: Api, namespace: str, group: str, file: str
) -> None:
    await define(api, group)
    shown = read_manifests((ROOT / "deploy" / file).read_text("utf-8"), file)
    for made in shown:
        made["metadata"]["namespace"] = namespace
        await api.apply(made)
    assert len(shown) >= 3


async def test_every_autoscaler_is_taken_strictly(api: Api, namespace: str) -> None:
    for name in FLEET.models:
        for made in hpas(name, FLEET, namespace):
            taken = await api.apply(made)
            assert taken["spec"]["behavior"]["scaleDown"]["tolerance"] == "0"


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_every_destination_rule_is_taken_strictly(
    api: Api, namespace: str, version: str
) -> None:
    await define(api, "istio")
    fleet = parse_catalogue(f"{TEXT}istio: {{version: {version}}}\n", "fleet.yaml")
    for name in fleet.models:
        for replicas in (1, 2, 5):
            await api.apply(destination_rule(name, fleet, namespace, replicas))


@pytest.mark.parametrize("text", [SEED_001, SEED_004])
async def test_a_seed_as_it_was_written_is_refused_and_put_right_it_is_taken(
    api: Api, namespace: str, text: str
) -> None:
    await define(api, "keda")
    seed: dict[str, Any] = read_manifests(text, "seed.yaml")[0]
    seed["metadata"]["namespace"] = namespace

    with pytest.raises(RefusedError, match=r"scalingStrategy|must be of type string"):
        await api.create(seed)
    await api.create(corrected(seed)[0])
