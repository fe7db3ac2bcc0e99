"""Taking over a Deployment that was there before us, and giving it back.

Its pods are not replaced: the template stays as it is. What changes: labels and notes on the
Deployment and its pods, and a lane in the selectors of the Services before it. The order keeps
requests flowing: pods get their lane before a Service asks for it, and keep it until none does.
"""

from typing import Any

import msgspec

from controlplane.adapters.kubernetes.client import Api, Manifest
from controlplane.adapters.kubernetes.deployers import written_again
from controlplane.adapters.kubernetes.ownership import rivals
from controlplane.adapters.kubernetes.pod_shape import RawPod, keep_pod
from controlplane.adapters.kubernetes.refusals import MissingError
from controlplane.adapters.kubernetes.resources import DEPLOYMENTS, PODS, SERVICES, Place, Resource
from controlplane.adapters.kubernetes.selecting import selected_by
from controlplane.domain import marks
from controlplane.domain.quantities import Instant
from controlplane.domain.replicas import Lane
from controlplane.render.lane import COSTS

KINDS: dict[str, Resource] = {"Deployment": DEPLOYMENTS, "Pod": PODS, "Service": SERVICES}
_POD_LABELS = (marks.MODEL, marks.CLASS, marks.LANE)
_POD_NOTES = (
    marks.LANE_SINCE,
    marks.WARMED_UP,
    marks.LENT_SLOTS,
    marks.SLEEPING,
    marks.DELETION_COST,
)


class NotAdoptableError(Exception):
    """It cannot be taken over, or given back; one sentence for people."""


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """One change of one object."""

    kind: str
    name: str
    patch: Manifest
    applied: bool = False  # by server-side apply, so that giving back leaves nothing
    lines: tuple[str, ...] = ()  # for people: + what is added, - what is taken away


class Adoption(msgspec.Struct, frozen=True, kw_only=True):
    """What would be changed, in order."""

    namespace: str
    name: str
    edits: tuple[Edit, ...]
    warnings: tuple[str, ...] = ()  # what others would do to it; a sentence each


async def plan(api: Api, where: tuple[str, str], whose: tuple[str, str], now: Instant) -> Adoption:
    """Say what taking over a Deployment for a model and a class would change."""
    namespace, name = where
    live = await _deployment(api, namespace, name)
    await _check(api, namespace, live)
    labels = {marks.MODEL: whose[0], marks.CLASS: whose[1]}
    services = [s for s in await _services(api, namespace) if _selects(s, live)]
    edits = [_of_deployment(live, labels, services)]
    edits += [_of_pod(pod, labels, now) for pod in await _pods(api, namespace, live)]
    edits += [_of_service(service) for service in services]
    again = written_again(live)
    return Adoption(
        namespace=namespace,
        name=name,
        edits=tuple(edits),
        warnings=(again,) if again is not None else (),
    )


async def plan_undo(api: Api, namespace: str, name: str) -> Adoption:
    """Say what giving it back would change: everything as it was noted, the number as it is."""
    live = await _deployment(api, namespace, name)
    noted = (live["metadata"].get("annotations") or {}).get(marks.ADOPTED_FROM)
    if noted is None:
        raise NotAdoptableError(f"Deployment {namespace}/{name} was not adopted: nothing to undo")
    before = msgspec.json.decode(noted, type=dict[str, Any])
    standing = {s["metadata"]["name"]: s for s in await _services(api, namespace)}
    edits = [
        _service_back(standing[service], selector)
        for service, selector in before["selectors"].items()
        if service in standing
    ]
    edits += [_pod_back(pod) for pod in await _pods(api, namespace, live)]
    edits.append(_deployment_back(live))
    return Adoption(namespace=namespace, name=name, edits=tuple(e for e in edits if e.lines))


async def carry_out(api: Api, adoption: Adoption) -> None:
    """Change it. A pod that is gone meanwhile needs no label."""
    for edit in adoption.edits:
        place = Place(KINDS[edit.kind], adoption.namespace, edit.name)
        try:
            if edit.applied:
                await api.apply(place, edit.patch, force=True)
            else:
                await api.patch(place, edit.patch)
        except MissingError:
            if edit.kind != "Pod":
                raise


async def _check(api: Api, namespace: str, live: Manifest) -> None:
    """Refuse what is ours already, and what somebody else scales."""
    name, notes = live["metadata"]["name"], live["metadata"].get("annotations") or {}
    if marks.ADOPTED_FROM in notes:
        raise NotAdoptableError(
            f"Deployment {namespace}/{name} is adopted already, for model "
            f"{live['metadata']['labels'].get(marks.MODEL)}; --undo gives it back"
        )
    if notes.get(marks.MANAGED_BY) == marks.MANAGER:
        raise NotAdoptableError(f"Deployment {namespace}/{name} was made by controlplane itself")
    rival = (await rivals(api, namespace)).get(f"Deployment/{name}")
    if rival is not None:
        raise NotAdoptableError(
            f"the number of Deployment {namespace}/{name} is written by {rival.by} and would be by "
            f"controlplane too: delete it first; {rival.show} shows it"
        )


def _of_deployment(live: Manifest, labels: dict[str, str], services: list[Manifest]) -> Edit:
    """Note whose it is and what was; its number becomes ours as it stands."""
    name = live["metadata"]["name"]
    before = {
        "selectors": {s["metadata"]["name"]: s["spec"]["selector"] for s in services},
        "replicas": live["spec"].get("replicas", 1),
    }
    notes = {
        marks.MANAGED_BY: marks.MANAGER,
        marks.ADOPTED_FROM: msgspec.json.encode(before).decode(),
    }
    applied = {
        "apiVersion": DEPLOYMENTS.api_version,
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels, "annotations": notes},
        "spec": {"replicas": before["replicas"]},
    }
    lines = [f"+ label {key}: {value}" for key, value in labels.items()]
    lines += [f"+ annotation {key}: {value}" for key, value in notes.items()]
    lines.append(f"  spec.replicas stays {before['replicas']}, written by controlplane from now on")
    return Edit(kind="Deployment", name=name, patch=applied, applied=True, lines=tuple(lines))


def _of_pod(pod: Manifest, labels: dict[str, str], now: Instant) -> Edit:
    """Label a pod; one that is ready answers real requests, so it serves and is warmed up."""
    name = pod["metadata"]["name"]
    kept = keep_pod(msgspec.convert(_labelled(pod, labels), RawPod, strict=False))
    given, notes = dict(labels), {}
    if kept is not None and kept.ready and kept.started:
        given[marks.LANE] = Lane.SERVING.value
        notes = {
            marks.LANE_SINCE: f"{now:.3f}",
            marks.WARMED_UP: kept.started,
            marks.DELETION_COST: str(COSTS[Lane.SERVING]),
        }
    lines = [f"+ label {key}: {value}" for key, value in given.items()]
    lines += [f"+ annotation {key}: {value}" for key, value in notes.items()]
    patch = {"metadata": {"labels": given, "annotations": notes}}
    return Edit(kind="Pod", name=name, patch=patch, lines=tuple(lines))


def _of_service(service: Manifest) -> Edit:
    """Let a Service ask for the lane: only replicas in service get its requests."""
    lane = {marks.LANE: Lane.SERVING.value}
    return Edit(
        kind="Service",
        name=service["metadata"]["name"],
        patch={"spec": {"selector": lane}},
        lines=(f"+ selector {marks.LANE}: {Lane.SERVING.value}",),
    )


def _service_back(service: Manifest, selector: dict[str, str]) -> Edit:
    now = service["spec"].get("selector") or {}
    change = {key: None for key in now if key not in selector} | {
        key: value for key, value in selector.items() if now.get(key) != value
    }
    lines = [
        f"- selector {key}: {now[key]}" if value is None else f"+ selector {key}: {value}"
        for key, value in change.items()
    ]
    name, patch = service["metadata"]["name"], {"spec": {"selector": change}}
    return Edit(kind="Service", name=name, patch=patch, lines=tuple(lines))


def _pod_back(pod: Manifest) -> Edit:
    about = pod["metadata"]
    labels = [key for key in _POD_LABELS if key in (about.get("labels") or {})]
    notes = [key for key in _POD_NOTES if key in (about.get("annotations") or {})]
    patch = {
        "metadata": {"labels": dict.fromkeys(labels), "annotations": dict.fromkeys(notes)},
    }
    lines = [f"- label {key}" for key in labels] + [f"- annotation {key}" for key in notes]
    return Edit(kind="Pod", name=about["name"], patch=patch, lines=tuple(lines))


def _deployment_back(live: Manifest) -> Edit:
    """Let go of everything that was applied; fields that only we own go with it.

    But for the number: where nobody else owns it any more, it would become 1.
    """
    name, number = live["metadata"]["name"], live["spec"].get("replicas", 1)
    applied = {
        "apiVersion": DEPLOYMENTS.api_version,
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": number},
    }
    gone = (f"label {marks.MODEL}", f"label {marks.CLASS}")
    lines = [f"- {what}" for what in gone]
    lines += [f"- annotation {key}" for key in (marks.MANAGED_BY, marks.ADOPTED_FROM)]
    lines.append(f"  spec.replicas stays {number}")
    return Edit(kind="Deployment", name=name, patch=applied, applied=True, lines=tuple(lines))


def _labelled(pod: Manifest, labels: dict[str, str]) -> Manifest:
    about = pod["metadata"]
    return {**pod, "metadata": {**about, "labels": {**(about.get("labels") or {}), **labels}}}


def _selects(service: Manifest, live: Manifest) -> bool:
    """Say whether a Service sends requests to a Deployment's pods."""
    selector = service["spec"].get("selector") or {}
    labels = live["spec"]["template"]["metadata"].get("labels") or {}
    return bool(selector) and selector.items() <= labels.items()


async def _deployment(api: Api, namespace: str, name: str) -> Manifest:
    try:
        return await api.get(Place(DEPLOYMENTS, namespace, name), Manifest)
    except MissingError as cause:
        raise NotAdoptableError(
            f"there is no Deployment {name} in namespace {namespace}; "
            f"kubectl get deployments -n {namespace} lists those there are"
        ) from cause


async def _services(api: Api, namespace: str) -> list[Manifest]:
    return await api.list(Place(SERVICES, namespace), Manifest)


async def _pods(api: Api, namespace: str, live: Manifest) -> list[Manifest]:
    pods = await api.list(Place(PODS, namespace), Manifest, labels=selected_by(live))
    return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
