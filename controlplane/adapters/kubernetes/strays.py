"""Pods of ours that nobody keeps. They hold devices and are billed; nobody else deletes them.

A ReplicaSet releases a pod whose labels no longer match, and counts one that failed no more; both
stay for ever. A pod on its own was never in any plan.
"""

from collections.abc import Iterable

from controlplane.adapters.kubernetes.pod_shape import Pod
from controlplane.domain.quantities import ReplicaName
from controlplane.domain.workloads import Stray


def strays(pods: Iterable[Pod]) -> dict[str, list[Stray]]:
    """Find them, by model."""
    found: dict[str, list[Stray]] = {}
    for pod in pods:
        why = _why(pod)
        if why:
            found.setdefault(pod.model, []).append(Stray(name=ReplicaName(pod.name), why=why))
    return found


def _why(pod: Pod) -> str:
    if pod.terminating:
        return ""
    if pod.phase in ("Failed", "Succeeded"):
        return f"it came to its end: {pod.note or pod.phase}"
    return "" if pod.owner else "it was released or made by hand: no controller owns it"
