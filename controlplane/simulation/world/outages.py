"""What goes wrong in a cluster, and how Kubernetes puts it right: slowly."""

from controlplane.domain.replicas import Phase
from controlplane.simulation.world.cluster import Cluster
from controlplane.simulation.world.faults import (
    Fault,
    GenerationHangs,
    NodeDies,
    NodeReturns,
    PodFails,
    ZoneDies,
)
from controlplane.simulation.world.news import News
from controlplane.simulation.world.nodes import Machine
from controlplane.simulation.world.pods import Pod

EVICT_S = 300.0  # the default toleration of an unreachable node
FAILED_LISTED_S = 60.0  # how long a failed pod stays in the list, to be seen


def strike(cluster: Cluster, fault: Fault) -> None:
    """Let a fault happen now."""
    if isinstance(fault, NodeDies):
        _silence(cluster, [m for m in cluster.machines if m.name == fault.node])
    elif isinstance(fault, ZoneDies):
        _silence(cluster, [m for m in cluster.machines if m.zone == fault.zone])
    elif isinstance(fault, NodeReturns):
        _return(cluster, fault)
    elif isinstance(fault, PodFails):
        pod = _struck(cluster, fault)
        if pod is not None:
            fail(cluster, pod, fault.note)
    else:
        hang(cluster, fault)


def hang(cluster: Cluster, fault: GenerationHangs) -> None:
    """Let the next engines of a model come up unable to generate."""
    cluster.hanging[fault.model] = cluster.hanging.get(fault.model, 0) + fault.replicas


def fail(cluster: Cluster, pod: Pod, note: str) -> None:
    """A container ended: the pod stays listed as Failed, its Deployment makes another."""
    cluster.end(pod)
    pod.phase, pod.note = Phase.FAILED, note
    pod.healthy = pod.warming_up = False
    pod.version += 1
    cluster.news.add(News.FAILED)
    cluster.after(FAILED_LISTED_S, cluster.delete, pod)
    cluster.reconcile(pod.model, pod.node_class)


def _struck(cluster: Cluster, fault: PodFails) -> Pod | None:
    pods = [p for p in cluster.pods.values() if p.model == fault.model and p.alive]
    if fault.replica is not None:
        return next((p for p in pods if p.name == fault.replica), None)
    return min(pods, key=lambda p: (not p.in_service, p.order), default=None)


def _silence(cluster: Cluster, machines: list[Machine]) -> None:
    """Nodes go silent: nothing on them answers, and after the toleration their pods are evicted."""
    for machine in machines:
        if not machine.ready:
            continue
        machine.ready = False
        for pod in _on(cluster, machine):
            # What runs is lost, but the pod keeps its devices and its place in the list.
            cluster.take_out(pod)
            cluster.stations[pod.model].cut(pod.engine)
            pod.version += 1
            cluster.after(EVICT_S, lambda p: _evict(cluster, p), pod)
            cluster.news.add(News.FAILED)


def _evict(cluster: Cluster, pod: Pod) -> None:
    if pod.machine is not None and not pod.machine.ready:
        _replace(cluster, pod)


def _return(cluster: Cluster, fault: NodeReturns) -> None:
    for machine in cluster.machines:
        if machine.name == fault.node and not machine.ready:
            machine.ready = True
            for pod in _on(cluster, machine):
                _replace(cluster, pod)
            cluster.schedule()


def _replace(cluster: Cluster, pod: Pod) -> None:
    cluster.delete(pod)
    cluster.reconcile(pod.model, pod.node_class)


def _on(cluster: Cluster, machine: Machine) -> list[Pod]:
    return [p for p in cluster.pods.values() if p.machine is machine and p.alive]
