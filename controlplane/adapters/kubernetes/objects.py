"""The objects that stand for the models: how they stand, and making them as the catalogue says.

Nothing is written to find out how an object stands: what it says is noted on it, and who wrote
which field stands in it (`field_owners`). It is written by server-side apply, so that fields of
others (a restart annotation, an injected sidecar) stay as they are.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from controlplane.adapters.kubernetes.adopted import keep_adopted, unlabelled
from controlplane.adapters.kubernetes.client import Manifest
from controlplane.adapters.kubernetes.comparing import (
    compared,
    foreign,
    is_ours,
    must_widen,
    said,
    to_apply,
)
from controlplane.adapters.kubernetes.fencing import refused
from controlplane.adapters.kubernetes.field_owners import number_writer
from controlplane.adapters.kubernetes.ownership import Rivals, rivals
from controlplane.adapters.kubernetes.refusals import ConflictError, ForbiddenError, MissingError
from controlplane.adapters.kubernetes.resources import (
    DAEMON_SETS,
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    SERVICES,
    Resource,
)
from controlplane.adapters.kubernetes.scope import Scope
from controlplane.adapters.kubernetes.strays import strays
from controlplane.domain.actions import Ensure
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import DONE, Outcome
from controlplane.domain.overrides import FLEET
from controlplane.domain.quantities import ClassName, Instant, ModelName
from controlplane.domain.workloads import Piece, PieceKey, Pieces, State, WorkloadsView
from controlplane.ports import UnavailableError
from controlplane.render.desired import Devices, Grounds, Wanted, desired, of_variant

KINDS: Mapping[str, Resource] = {
    "Deployment": DEPLOYMENTS,
    "PodDisruptionBudget": DISRUPTION_BUDGETS,
    "Service": SERVICES,
    "DaemonSet": DAEMON_SETS,
}
READ_ANEW = 2  # times, when an object changes while it is being written


Variety = tuple[ModelName, ClassName]


class _Live(NamedTuple):
    """What was found of one kind: objects by name, or why they are not known."""

    of: Mapping[str, Manifest]
    why: str = ""


class _Rendered(NamedTuple):
    """What was rendered last, and of what."""

    catalogue: Catalogue
    devices: Devices
    grounds: Grounds
    objects: Mapping[PieceKey, Wanted] | None = None


class Objects:
    """All objects of one namespace that are ours to make."""

    def __init__(self, scope: Scope) -> None:
        """Know of nobody else yet."""
        self._scope = scope
        self._rivals: Rivals | None = None
        self._rendered: _Rendered | None = None
        self.templates: Mapping[Variety, str] = {}  # digests of what pods are made of by now

    def wanted(self) -> Mapping[PieceKey, Wanted]:
        """Render what the catalogue in force asks for, on the nodes as they are now.

        Nodes say something every second and rarely anything new, so what was rendered stands until
        catalogue or ground is another.
        """
        stands = self._stands()
        if stands.objects is None:
            stands = self._keep(stands, self._render(stands))
        return stands.objects or {}

    async def _refreshed(self) -> Mapping[PieceKey, Wanted]:
        """Render anew, if need be, beside the event loop: hundreds of models take a while."""
        stands = self._stands()
        if stands.objects is None:
            self._keep(stands, await asyncio.to_thread(self._render, stands))
        return self.wanted()

    def _keep(self, stands: _Rendered, made: Mapping[PieceKey, Wanted]) -> _Rendered:
        self._rendered = stands._replace(objects=made)
        self.templates = {
            (ModelName(each.subject), each.node_class): each.template
            for each in made.values()
            if each.node_class is not None and each.template and each.kind == "Deployment"
        }
        return self._rendered

    def _stands(self) -> _Rendered:
        """Give what was rendered, if it still holds; else what is to be rendered."""
        scope, last = self._scope, self._rendered
        catalogue = scope.catalogue
        grounds = {name: scope.sight.ground(catalogue, name) for name in catalogue.node_classes}
        if last is not None and last.catalogue is catalogue and last.grounds == grounds:
            return last
        return _Rendered(catalogue, scope.table.devices, grounds)

    def _render(self, of: _Rendered) -> Mapping[PieceKey, Wanted]:
        return desired(of.catalogue, of.devices, self._scope.namespace, of.grounds)

    async def look(self, at: Instant) -> WorkloadsView:
        """Say how everything stands. Whatever may not be read is said so, and the rest is read."""
        cache = self._scope.sight.cache
        if not cache.trusted(cache.pods):  # whoever is not seen is not nobody's
            raise UnavailableError(f"the pods are not known: {cache.why_not(cache.pods)}")
        wanted = await self._refreshed()
        await self._look_for_rivals()
        live = {kind: await self._listed(resource) for kind, resource in KINDS.items()}
        pieces: dict[str, list[Piece]] = {}
        for each in wanted.values():
            piece = await self._piece(each, live[each.kind])
            pieces.setdefault(each.subject, []).append(piece)
        pieces.setdefault(FLEET, []).extend(self._left(wanted, live))
        lost = strays(self._scope.ours())
        subjects = [
            Pieces(
                subject=subject,
                pieces=tuple(pieces.get(subject, ())),
                strays=tuple(lost.get(subject, ())),
            )
            for subject in (FLEET, *self._scope.catalogue.models)
        ]
        return WorkloadsView(at=at, subjects=tuple(subjects))

    def _left(
        self, wanted: Mapping[PieceKey, Wanted], live: Mapping[str, _Live]
    ) -> Iterator[Piece]:
        """Find what is ours and no longer asked for. It may serve somebody: people delete it."""
        for kind, listed in live.items():
            for name, found in listed.of.items():
                if f"{kind}/{name}" not in wanted and is_ours(found):
                    show = f"kubectl delete {kind.lower()} {name} -n {self._scope.namespace}"
                    yield Piece(kind=kind, name=name, state=State.LEFT, show=show)

    async def rivals(self) -> Rivals:
        """Give who else scales, as it was seen last."""
        return await self._look_for_rivals() if self._rivals is None else self._rivals

    async def _look_for_rivals(self) -> Rivals:
        """Find who else scales; where that may not be read, the fields tell who wrote a number."""
        try:
            self._rivals = await rivals(self._scope.api, self._scope.namespace)
        except ForbiddenError:
            self._rivals = {}
        return self._rivals

    async def ensure(self, action: Ensure) -> Outcome:
        """Make one object as the catalogue says.

        Its controllers write its status between our reading and our writing: it is then read anew.
        """
        for _ in range(READ_ANEW):
            with suppress(ConflictError):
                return await self._ensure(action)
        return await self._ensure(action)

    async def _ensure(self, action: Ensure) -> Outcome:
        wanted = self.wanted().get(action.key)
        if wanted is None:
            return refused(f"{action.key} is no longer in the catalogue")
        if wanted.why:
            return refused(wanted.why)
        live = await self._one(wanted)
        if wanted.adopted:
            return await keep_adopted(self._scope, wanted, live, force=action.force)
        if live is not None and not is_ours(live):
            return refused(f"{wanted.kind} {wanted.name} is not managed by controlplane")
        await self.write(wanted, live, force=action.force)
        return DONE

    async def write(
        self, wanted: Wanted, live: Manifest | None, *, force: bool = False, replicas: int = 0
    ) -> Manifest:
        """Apply an object."""
        widen = live is not None and self._waiting(wanted) and must_widen(wanted, live)
        manifest = to_apply(self._hinted(wanted), live, replicas=replicas, widen=widen)
        place = self._scope.place(KINDS[wanted.kind], wanted.name)
        return await self._scope.writes.apply(place, manifest, force=force)

    def _hinted(self, wanted: Wanted) -> Wanted:
        """Prefer nodes that have the image; who they are is only looked up for what is written."""
        scope = self._scope
        if wanted.kind != "Deployment" or wanted.node_class is None:
            return wanted
        key = ModelName(wanted.subject), wanted.node_class
        image = scope.catalogue.models[key[0]].variants[key[1]].image
        ground = scope.sight.ground(scope.catalogue, wanted.node_class, image)
        devices = scope.table.devices[key]
        again = of_variant(scope.catalogue, key, devices, scope.namespace, ground)
        return next(each for each in again if each.key == wanted.key)

    async def deployment(self, name: str) -> Manifest | None:
        """Give a Deployment as it is now."""
        try:
            return await self._scope.api.get(self._scope.place(DEPLOYMENTS, name), Manifest)
        except MissingError:
            return None

    async def _listed(self, resource: Resource) -> _Live:
        try:
            found = await self._scope.api.list(self._scope.place(resource), Manifest)
        except ForbiddenError as cause:
            return _Live({}, str(cause))
        return _Live({each["metadata"]["name"]: each for each in found})

    async def _one(self, wanted: Wanted) -> Manifest | None:
        place = self._scope.place(KINDS[wanted.kind], wanted.name)
        try:
            return await self._scope.api.get(place, Manifest)
        except MissingError:
            return None

    async def _piece(self, wanted: Wanted, listed: _Live) -> Piece:
        if wanted.why or listed.why:
            return said(wanted, State.REFUSED, why=wanted.why or listed.why)
        live = listed.of.get(wanted.name)
        if wanted.adopted:
            return await self._adopted(wanted, live)
        if live is None:
            return said(wanted, State.MISSING)
        show = f"kubectl get {wanted.kind.lower()} {wanted.name} -n {self._scope.namespace} -o yaml"
        others = foreign(wanted, live, (await self.rivals()).get(wanted.key), show)
        return others or compared(wanted, live, show, waiting=self._waiting(wanted))

    async def _adopted(self, wanted: Wanted, live: Manifest | None) -> Piece:
        """Say how a Deployment stands that was there before us, or how to adopt it."""
        where = f"{self._scope.namespace}/{wanted.name}"
        if live is None:
            why = f"Deployment {where} is named in the catalogue and does not exist"
            return said(wanted, State.REFUSED, why=why)
        adopt = f"controlplane adopt {where} --model {wanted.subject} --class {wanted.node_class}"
        others = foreign(wanted, live, (await self.rivals()).get(wanted.key), adopt)
        if others is not None:
            return others
        writer = None if wanted.elsewhere else number_writer(live)
        if writer is not None:
            return said(wanted, State.DRIFTED, by=writer, what="spec.replicas", show=adopt)
        try:
            new = await unlabelled(self._scope, wanted, live)
        except ForbiddenError as cause:
            return said(wanted, State.REFUSED, why=str(cause))
        if new:
            return said(wanted, State.CHANGED, what=f"{len(new)} pods without labels")
        return said(wanted, State.SETTLED)

    def _waiting(self, wanted: Wanted) -> bool:
        """Say whether pods of a variant find no node."""
        if wanted.node_class is None:
            return False
        pods = self._scope.pods_of(ModelName(wanted.subject), wanted.node_class)
        return any(pod.unschedulable_since is not None for pod in pods)
