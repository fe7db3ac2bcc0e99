"""The Deployment of a variant, and how it replaces its pods when the catalogue changes.

A changed image is rolled out by the Deployment itself, a pod at a time and never one fewer: a new
pod counts as there only after it had the time to be warmed up and put in service.
"""

from math import ceil

from controlplane.render.naming import Manifest, deployment_name, metadata
from controlplane.render.pod import Placed, pod_template, queue_labels

LOOKS_S = 10.0  # two cycles, in which a warm replica is seen and promoted


def deployment(of: Placed, replicas: int) -> Manifest:
    """Render a variant's Deployment with that number of pods."""
    name = deployment_name(of.name, of.model, of.class_name)
    spare = of.model.policy.spare
    settled = ceil(spare.warmup_limit_s + LOOKS_S)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(name, of.namespace, {**of.labels, **queue_labels(of.model.serving)}),
        "spec": {
            "replicas": replicas,
            "revisionHistoryLimit": 3,
            "minReadySeconds": settled,
            "progressDeadlineSeconds": settled
            + ceil(2 * max(spare.load_limit_s, of.variant.load_s)),
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
            },
            "selector": {"matchLabels": of.labels},
            "template": pod_template(of),
        },
    }


def budget(of: Placed) -> Manifest:
    """Render the disruption budget: one of a variant's pods at a time may be evicted.

    It counts every lane. A budget for serving pods alone would hold the Deployment's whole number
    against them, and with a spare there is always one too few: no node could ever be drained.
    """
    name = deployment_name(of.name, of.model, of.class_name)
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(name, of.namespace, of.labels),
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": of.labels},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }
