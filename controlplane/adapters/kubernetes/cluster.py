"""Kubernetes behind the port `Cluster`: what is seen, and each action as one fenced write.

No action waits for its effect: the next look shows it. A refusal (another leads, the pod has
changed, no permission, somebody else's object) is an outcome with one sentence.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from controlplane.adapters.kubernetes import lanes
from controlplane.adapters.kubernetes.fencing import REFUSALS, outcome_of, refused
from controlplane.adapters.kubernetes.objects import Objects
from controlplane.adapters.kubernetes.refusals import MissingError
from controlplane.adapters.kubernetes.resources import PODS
from controlplane.adapters.kubernetes.scope import Scope
from controlplane.adapters.kubernetes.sizing import (
    check_owner,
    leave_to_another,
    size,
    size_ray,
)
from controlplane.clock import Clock
from controlplane.domain.actions import (
    Action,
    Ensure,
    Lend,
    Remove,
    SetLane,
    SetReplicas,
    Sleep,
    Wake,
    WarmUp,
)
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import DONE, Ending, Outcome
from controlplane.domain.fleet import FleetView
from controlplane.domain.replicas import Replica
from controlplane.domain.workloads import WorkloadsView
from controlplane.ports import EngineAt, Engines
from controlplane.render.ray_service import NoGroupError

Apply: TypeAlias = Callable[..., Awaitable[Outcome]]


class KubernetesCluster:
    """One namespace of a cluster, and the nodes it may use."""

    def __init__(self, scope: Scope, engines: Engines, clock: Clock) -> None:
        """Look and write through this scope; the engines answer for themselves."""
        self.engines_at: Sequence[EngineAt] = ()  # those that could be asked at the last look
        self._scope = scope
        self._engines = engines
        self._clock = clock
        self._objects = Objects(scope)
        self._verbs: dict[type, Apply] = {
            SetReplicas: self._set_replicas,
            SetLane: self._set_lane,
            WarmUp: self._warm_up,
            Sleep: self._sleep,
            Wake: self._wake,
            Lend: self._lend,
            Ensure: self._objects.ensure,
            Remove: self._remove,
        }

    async def observe(self) -> FleetView:
        """Give one consistent snapshot, and let the engines know which of them there are."""
        scope = self._scope
        self.engines_at = await scope.sight.engines_at(scope.catalogue)
        self._engines.follow(self.engines_at)
        view = await scope.sight.view(scope.catalogue, self._engines, self._clock.now())
        replicas = tuple(map(self._aged, view.replicas))
        return view if replicas == view.replicas else replace(view, replicas=replicas)

    async def standing(self) -> WorkloadsView:
        """Say how the objects of all models stand."""
        return await self._objects.look(self._clock.now())

    async def apply(self, action: Action) -> Outcome:
        """Carry out one action."""
        verb = self._verbs.get(type(action))
        if verb is None:
            return DONE  # touches no cluster
        try:
            return await verb(action)
        except REFUSALS as cause:
            return outcome_of(cause, _subject(action))

    async def swap_catalogue(self, catalogue: Catalogue) -> None:
        """Put another catalogue in force."""
        self._scope.swap(catalogue)

    def _aged(self, replica: Replica) -> Replica:
        """Say of a replica whether its template has changed since it was made."""
        pod = self._scope.pod(replica.name)
        if pod is None or not pod.rendered:
            return replica
        now = self._objects.templates.get((replica.model, replica.node_class), pod.rendered)
        return replica if pod.rendered == now else replace(replica, outdated=True)

    async def _set_replicas(self, action: SetReplicas) -> Outcome:
        scope = self._scope
        name = scope.deployment(action.model, action.node_class)
        model = scope.catalogue.models.get(action.model)
        if model is not None and model.serving.scheduled_by == "kuberay":
            try:
                return await size_ray(scope, name, action)
            except NoGroupError as cause:
                return refused(str(cause))
        if model is not None and model.policy.scaling.writer != "controlplane":
            return await leave_to_another(scope, action, model.policy.scaling.writer)
        live = await self._objects.deployment(name)
        if live is None:
            return await self._create(name, action)
        check_owner(live, await self._objects.rivals(), scope.namespace)
        return await size(scope, live, action)

    async def _create(self, name: str, action: SetReplicas) -> Outcome:
        """Make the Deployment on the way; a variant that left the catalogue gets none."""
        wanted = self._objects.wanted().get(f"Deployment/{name}")
        if wanted is None or wanted.manifest is None:
            why = wanted.why if wanted else f"{action.model} has no variant on {action.node_class}"
            return refused(why or f"Deployment {name} does not exist")
        await self._objects.write(wanted, None, replicas=action.count)
        return DONE

    async def _set_lane(self, action: SetLane) -> Outcome:
        return await lanes.set_lane(self._scope, self._engines, action, self._clock.now())

    async def _lend(self, action: Lend) -> Outcome:
        return await lanes.lend(self._scope, action)

    async def _warm_up(self, action: WarmUp) -> Outcome:
        self._scope.writes.check()  # a batch is load on an engine: only the leader sends it
        return await self._engines.warm_up(action.replica, action.requests)

    async def _sleep(self, action: Sleep) -> Outcome:
        self._scope.writes.check()
        slept = await self._engines.sleep(action.replica)
        if slept.ending is Ending.DONE:
            await lanes.mark_asleep(self._scope, action.replica, asleep=True)
        return slept

    async def _wake(self, action: Wake) -> Outcome:
        self._scope.writes.check()
        woken = await self._engines.wake_up(action.replica)
        if woken.ending is Ending.DONE:
            await lanes.mark_asleep(self._scope, action.replica, asleep=False)
        return woken

    async def _remove(self, action: Remove) -> Outcome:
        pod = self._scope.pod(action.replica)
        if pod is None:
            return DONE
        if pod.owner and pod.phase not in ("Failed", "Succeeded"):
            return refused(f"{pod.name} is kept by {pod.owner}")
        try:
            await self._scope.writes.delete(self._scope.place(PODS, pod.name), uid=pod.uid)
        except MissingError:
            return DONE
        return DONE


def _subject(action: Action) -> str:
    """Name what an action is about."""
    if isinstance(action, SetReplicas):
        return f"{action.model} on {action.node_class}"
    if isinstance(action, Ensure):
        return f"{action.kind} {action.name}"
    return str(getattr(action, "replica", type(action).__name__))
