"""The number of a variant's pods, and who of them leaves when there are to be fewer.

A ReplicaSet takes first what has no node, then what is not ready, and only among equals what is
cheapest to delete. So the price is marked before the number falls; and where a pod that is on its
way up would be taken instead of one that has drained, the drained one is deleted by name first. Its
place is refilled at once, and that newcomer is what the lower number then takes.
"""

from collections.abc import Collection, Sequence

from controlplane.adapters.kubernetes.client import JSON_PATCH, Manifest
from controlplane.adapters.kubernetes.fencing import WrittenByAnotherError
from controlplane.adapters.kubernetes.field_owners import managers, number_writer
from controlplane.adapters.kubernetes.ownership import Rivals
from controlplane.adapters.kubernetes.pod_shape import Pod
from controlplane.adapters.kubernetes.refusals import MissingError
from controlplane.adapters.kubernetes.resources import DEPLOYMENTS, PODS, RAY_SERVICES
from controlplane.adapters.kubernetes.scope import Scope
from controlplane.domain import marks
from controlplane.domain.actions import SetReplicas
from controlplane.domain.decisions import DONE, Ending, Outcome
from controlplane.domain.quantities import ReplicaName
from controlplane.render.lane import KEPT_COST, VICTIM_COST, note
from controlplane.render.ray_service import replicas_patch


async def size(scope: Scope, live: Manifest, action: SetReplicas) -> Outcome:
    """Set a standing Deployment's number; it is known to be ours."""
    name = live["metadata"]["name"]
    now = live["spec"].get("replicas", 0)
    if now == action.count:
        # What is there beyond it is on its way out already, or comes and goes with a rollout.
        return DONE
    if action.victims:
        await _mark(scope, action.victims, VICTIM_COST)
        await _delete_out_of_turn(scope, action)
    # Only if it is still the number that was seen; a changed status must not be in the way. A scale
    # of 0 leaves the number out, so there is nothing to be tested.
    seen = [{"op": "test", "path": "/spec/replicas", "value": now}] if now else []
    change = [*seen, {"op": "add", "path": "/spec/replicas", "value": action.count}]
    await scope.writes.patch(scope.place(DEPLOYMENTS, name, "scale"), change, form=JSON_PATCH)
    return DONE


async def size_ray(scope: Scope, name: str, action: SetReplicas) -> Outcome:
    """Hand the number to KubeRay, and the names of those that leave."""
    place = scope.place(RAY_SERVICES, name)
    live = await scope.api.get(place, Manifest)
    patch = replicas_patch(live, action.node_class, action.count, action.victims)
    await scope.writes.patch(place, patch, form=JSON_PATCH)
    return DONE


async def leave_to_another(scope: Scope, action: SetReplicas, writer: str) -> Outcome:
    """Mark who should leave; the number itself is written by another, as the policy says."""
    await _mark(scope, action.victims, VICTIM_COST)
    return Outcome(Ending.DONE, f"policy.scaling.writer is {writer}: the number is left to it")


def check_owner(live: Manifest, rivals: Rivals, namespace: str) -> None:
    """Raise when a Deployment, or its number, is another's; the sentence names both."""
    name = live["metadata"]["name"]
    show = f"kubectl get deployment {name} -n {namespace} --show-managed-fields -o yaml"
    rival = rivals.get(f"Deployment/{name}")
    if (live["metadata"].get("annotations") or {}).get(marks.MANAGED_BY) != marks.MANAGER:
        whose = ", ".join(managers(live)) or "somebody else"
        not_ours = f"Deployment {name} is not managed by controlplane but written by {whose}"
        adopt = f"controlplane adopt {namespace}/{name} takes it over"
        if rival is None:
            raise WrittenByAnotherError(f"{not_ours}; {show} shows it, {adopt}")
        raise WrittenByAnotherError(
            f"{not_ours}, and its number by {rival.by}; {rival.show} shows that, and once it is "
            f"deleted {adopt}"
        )
    if rival is not None:
        raise WrittenByAnotherError(
            f"the number of Deployment {name} is written by {rival.by} and would be by "
            f"controlplane too; {rival.show} shows it"
        )
    writer = number_writer(live)
    if writer is not None:
        raise WrittenByAnotherError(
            f"the number of Deployment {name} was written by {writer} instead of controlplane; "
            f"it is taken back once per interval; {show} shows it"
        )


def whom_a_shrink_takes(pods: Sequence[Pod], victims: Collection[str]) -> set[str]:
    """Give whom the ReplicaSet would take when as many leave as there are victims."""
    order = sorted(pods, key=lambda pod: (*_rank(pod), pod.name not in victims))
    return {pod.name for pod in order[: sum(1 for pod in pods if pod.name in victims)]}


def _rank(pod: Pod) -> tuple[bool, bool, bool]:
    """Give what a ReplicaSet looks at before it looks at the cost."""
    return (bool(pod.node), pod.phase == "Running", pod.ready)


async def _mark(scope: Scope, names: Collection[ReplicaName], cost: int) -> None:
    for name in names:
        try:
            await scope.write_pod(name, note(marks.DELETION_COST, str(cost)))
        except MissingError:  # it is gone already, which is what was wanted
            continue


async def _delete_out_of_turn(scope: Scope, action: SetReplicas) -> None:
    active = [
        pod
        for pod in scope.pods_of(action.model, action.node_class)
        if not pod.terminating and pod.phase not in ("Failed", "Succeeded")
    ]
    taken = whom_a_shrink_takes(active, action.victims)
    spared = [p for p in active if p.name in action.victims and p.name not in taken]
    if not spared:
        return
    in_danger = [ReplicaName(name) for name in sorted(taken - set(action.victims))]
    await _mark(scope, in_danger, KEPT_COST)
    for pod in spared:
        try:
            await scope.writes.delete(scope.place(PODS, pod.name), uid=pod.uid)
        except MissingError:
            continue
