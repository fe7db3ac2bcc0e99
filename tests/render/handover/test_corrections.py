"""The triggers of two field reports, put right: what each correction changes, and why."""

from typing import Any

import pytest

from controlplane.render.corrections import Correction, corrected
from controlplane.settings.manifests import manifests_text, read_manifests
from tests.render.handover.golden import check
from tests.render.handover.seeds import SEED_001, SEED_004


def put_right(text: str) -> tuple[dict[str, Any], dict[str, Correction]]:
    right, made = corrected(read_manifests(text, "seed.yaml")[0])
    return right, {f"{one.field}: {one.why.split(':')[0]}": one for one in made}


@pytest.mark.parametrize(("name", "text"), [("seed-001", SEED_001), ("seed-004", SEED_004)])
def test_a_seed_put_right_is_as_it_was_looked_at(name: str, text: str) -> None:
    right, _ = put_right(text)

    check(f"{name}-corrected.yaml", [right])


def test_seed_001_a_gauge_has_no_rate() -> None:
    right, _ = put_right(SEED_001)

    query = right["spec"]["triggers"][0]["metadata"]["query"]
    assert query == 'sum(avg_over_time(model_queue_depth{model="sdxl"}[1m]))'


def test_seed_001_what_the_crd_does_not_know_is_gone() -> None:
    right, _ = put_right(SEED_001)

    assert "scalingStrategy" not in right["spec"]["advanced"]
    assert "metricName" not in right["spec"]["triggers"][0]["metadata"]
    assert right["spec"]["triggers"][0]["name"] == "model-queue-depth"


def test_seed_001_a_sum_stays_shared_among_the_replicas() -> None:
    right, _ = put_right(SEED_001)

    assert right["spec"]["triggers"][0].get("metricType", "AverageValue") == "AverageValue"


def test_seed_004_a_mean_over_pods_is_not_divided_by_the_pods_again() -> None:
    right, _ = put_right(SEED_004)

    kinds = [trigger.get("metricType") for trigger in right["spec"]["triggers"]]
    assert kinds == ["Value", None, "Value"]


def test_seed_004_a_percentile_is_of_all_pods_together() -> None:
    right, _ = put_right(SEED_004)

    assert right["spec"]["triggers"][2]["metadata"]["query"] == (
        "histogram_quantile(0.99, sum by (le) (rate(vllm:e2e_request_latency_seconds_bucket[2m])))"
    )


def test_seed_004_numbers_are_quoted_and_what_never_acts_is_gone() -> None:
    right, _ = put_right(SEED_004)

    metadata = [trigger["metadata"] for trigger in right["spec"]["triggers"]]
    assert [of["threshold"] for of in metadata] == ["75", "10", "2"]
    assert "activationThreshold" not in metadata[0]
    assert "threshold: '75'" in manifests_text([right])


def test_seed_004_the_cooldown_becomes_the_window_it_was_meant_to_be() -> None:
    right, _ = put_right(SEED_004)

    behavior = right["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    assert behavior["scaleDown"]["stabilizationWindowSeconds"] == 300
    assert "cooldownPeriod" not in right["spec"]


def test_seed_004_the_devices_are_looked_for_in_the_pods_namespace() -> None:
    right, _ = put_right(SEED_004)

    query = right["spec"]["triggers"][0]["metadata"]["query"]
    assert query == 'avg(DCGM_FI_DEV_GPU_UTIL{exported_namespace="inference"})'


def test_a_broken_exporter_no_longer_reads_as_zero() -> None:
    right, made = put_right(SEED_004)

    assert all(t["metadata"]["ignoreNullValues"] == "false" for t in right["spec"]["triggers"])
    assert right["spec"]["fallback"]["behavior"] == "currentReplicasIfHigher"
    assert all(one.why for one in made.values())


def test_where_there_may_be_no_replica_a_fallback_of_none_would_take_all_away() -> None:
    text = SEED_004.replace("minReplicaCount: 2", "minReplicaCount: 0")
    fallback = "  fallback: {failureThreshold: 3, replicas: 0}\n  triggers:"
    assert "minReplicaCount: 0" in text
    without, _ = put_right(text)
    right, made = put_right(text.replace("  triggers:", fallback))

    assert "fallback" not in without["spec"]
    assert "fallback" not in right["spec"]
    assert any(one.startswith("spec.fallback.replicas: where there may be no") for one in made)


def test_what_is_right_is_left_alone() -> None:
    right, _ = put_right(SEED_004)

    again, made = corrected(right)
    assert (again, made) == (right, ())


def test_a_rate_of_a_counter_stays() -> None:
    text = SEED_001.replace("model_queue_depth{", "requests_total{")
    right, _ = put_right(text)

    assert right["spec"]["triggers"][0]["metadata"]["query"].startswith("sum(rate(requests_total")
