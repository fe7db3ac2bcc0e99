"""Deployments and Services for tests of the cluster itself."""

import sys
from pathlib import Path
from typing import Any

from tests.cluster.api import Manifest

_PROGRAM = Path(__file__).with_name("answering.py")
HEALTH: Manifest = {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 1}


def answering(environment: dict[str, str] | None = None, **more: Any) -> Manifest:
    """Give a container that runs `answering.py` on the pod's address."""
    given = [{"name": name, "value": value} for name, value in (environment or {}).items()]
    address = {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    return {
        "name": "engine",
        "image": "tests/answering",
        "command": [sys.executable, str(_PROGRAM)],
        "env": [address, *given],
        "ports": [{"name": "http", "containerPort": 8080}],
        "readinessProbe": HEALTH,
        **more,
    }


def pod_spec(node: str | None, container: Manifest | None = None, **more: Any) -> Manifest:
    """Give the spec of a pod, bound by name where one is given."""
    bound = {"nodeName": node} if node else {}
    return {"containers": [container or answering()], "terminationGracePeriodSeconds": 5,
            **bound, **more}  # fmt: skip


def pod(
    namespace: str, name: str, spec: Manifest, labels: dict[str, str] | None = None
) -> Manifest:
    """Give a pod on its own."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}},
        "spec": spec,
    }


def deployment(namespace: str, name: str, replicas: int, spec: Manifest) -> Manifest:
    """Give a Deployment whose pods have the label app."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec},
        },
    }


def service(namespace: str, name: str, selector: dict[str, str]) -> Manifest:
    """Give a Service with the addresses of its pods and none of its own."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterIP": "None", "selector": selector, "ports": [{"port": 8080}]},
    }
