"""How one object stands, held against what the catalogue says of it."""

from collections.abc import Iterator
from typing import Any

from controlplane.adapters.kubernetes.client import Manifest
from controlplane.adapters.kubernetes.field_owners import Drift, drift, managers, number_writer
from controlplane.adapters.kubernetes.ownership import Rival
from controlplane.domain import marks
from controlplane.domain.workloads import Piece, State
from controlplane.render.desired import Wanted

_FOLLOW_NODES = ("affinity", "tolerations")


def is_ours(live: Manifest) -> bool:
    """Say whether we made an object, or adopted it."""
    notes = live["metadata"].get("annotations") or {}
    return bool(notes.get(marks.MANAGED_BY) == marks.MANAGER)


def said(wanted: Wanted, state: State, **more: str) -> Piece:
    """Say how an object stands."""
    return Piece(kind=wanted.kind, name=wanted.name, state=state, **more)


def foreign(wanted: Wanted, live: Manifest, rival: Rival | None, show: str) -> Piece | None:
    """Say whose an object is, or its number, if it is not ours."""
    if not is_ours(live):
        whose = ", ".join(managers(live)) or "somebody else"
        if rival is not None:
            whose, show = f"{whose}, {rival.by}", rival.show  # to be taken away before adopting
        return said(wanted, State.FOREIGN, by=whose, show=show)
    if rival is not None and not wanted.elsewhere:
        return said(wanted, State.FOREIGN, by=rival.by, show=rival.show)
    return None


def compared(wanted: Wanted, live: Manifest, show: str, *, waiting: bool) -> Piece:
    """Compare an object of ours; `waiting` says that pods of it find no node."""
    manifest = to_apply(wanted, live)
    if wanted.elsewhere:
        spec = {name: value for name, value in manifest["spec"].items() if name != "replicas"}
        drifted = drift({**manifest, "spec": spec}, live)
    else:
        drifted = drift(manifest, live)
    if drifted is None and wanted.kind == "Deployment" and not wanted.elsewhere:
        writer = number_writer(live)
        drifted = Drift(writer, ("spec.replicas",)) if writer is not None else None
    if drifted is not None:
        return said(wanted, State.DRIFTED, by=drifted.by, what=drifted.what, show=show)
    if _seal(live) != _seal(manifest):
        return said(wanted, State.CHANGED)
    if waiting and must_widen(wanted, live):
        return said(wanted, State.CHANGED, what="nodes of its class")
    why = _stuck(live)
    if why:
        return said(wanted, State.STUCK, why=why, show=show)
    return said(wanted, State.SETTLED)


def to_apply(
    wanted: Wanted, live: Manifest | None, *, replicas: int = 0, widen: bool = False
) -> Manifest:
    """Give what is applied: a Deployment keeps its number, and pods the nodes they may stand on.

    The nodes a template names follow what was seen; they alone are no reason to replace its pods,
    unless those wait in vain (`widen`).
    """
    manifest = wanted.manifest or {}
    head, spec = dict(manifest["metadata"]), dict(manifest["spec"])
    if live is not None:
        head["resourceVersion"] = live["metadata"]["resourceVersion"]
        if "template" in spec and _seal(live) == _seal(manifest) and not widen:
            spec["template"] = _where_they_stood(spec["template"], live["spec"]["template"])
    if wanted.kind == "Deployment" and live is not None:
        # Also where another writes it: a number that only we own, once left out, would become 1.
        spec["replicas"] = live["spec"].get("replicas", 0)
    elif wanted.kind == "Deployment":
        spec["replicas"] = max(wanted.begins, replicas)
    return {**manifest, "metadata": head, "spec": spec}


def must_widen(wanted: Wanted, live: Manifest) -> bool:
    """Say whether the class has nodes that the standing template shuts out."""
    if wanted.manifest is None or wanted.kind != "Deployment":
        return False
    stands = dict(_required(live))
    return any(
        not set(values) <= set(stands.get(key, ())) for key, values in _required(wanted.manifest)
    )


def _stuck(live: Manifest) -> str:
    """Give what a Deployment says of a rollout that makes no progress."""
    for each in (live.get("status") or {}).get("conditions") or []:
        if each.get("reason") == "ProgressDeadlineExceeded" and each.get("status") == "False":
            return str(each.get("message") or "no progress within its deadline")
    return ""


def _where_they_stood(template: Manifest, live: Manifest) -> Manifest:
    kept = {name: live["spec"][name] for name in _FOLLOW_NODES if name in live["spec"]}
    return {**template, "spec": {**template["spec"], **kept}}


def _required(manifest: Manifest) -> Iterator[tuple[str, list[str]]]:
    """Give the label values that pods of a Deployment require of a node."""
    pod: dict[str, Any] = manifest["spec"]["template"]["spec"]
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or []:
        for each in term.get("matchExpressions") or []:
            yield each["key"], each.get("values") or []


def _seal(manifest: Manifest) -> str:
    return str((manifest["metadata"].get("annotations") or {}).get(marks.RENDERED, ""))
