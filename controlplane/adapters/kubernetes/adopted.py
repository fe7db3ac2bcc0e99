"""The pods of a Deployment that was there before us: they get our labels without being replaced.

A label in its template would replace them all. So the template is left alone, and pods that it
makes are labelled when they are seen: they load for a minute and more, which is time enough.
"""

from datetime import datetime

import msgspec

from controlplane.adapters.kubernetes.client import Manifest
from controlplane.adapters.kubernetes.comparing import is_ours
from controlplane.adapters.kubernetes.fencing import refused
from controlplane.adapters.kubernetes.refusals import MissingError
from controlplane.adapters.kubernetes.resources import DEPLOYMENTS, PODS
from controlplane.adapters.kubernetes.scope import Scope
from controlplane.adapters.kubernetes.selecting import selected_by
from controlplane.domain import marks
from controlplane.domain.decisions import DONE, Outcome
from controlplane.render.desired import Wanted

_NOTES = (marks.MANAGED_BY, marks.ADOPTED_FROM)


class _About(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    labels: dict[str, str] = {}
    deletion_timestamp: datetime | None = None


class _Pod(msgspec.Struct, frozen=True):
    metadata: _About = _About()


async def unlabelled(scope: Scope, wanted: Wanted, live: Manifest) -> list[str]:
    """Name the pods of an adopted Deployment that do not say yet whose they are."""
    wants = {marks.MODEL: wanted.subject, marks.CLASS: str(wanted.node_class)}
    pods = await scope.api.list(scope.place(PODS), _Pod, labels=selected_by(live))
    return [
        pod.metadata.name
        for pod in pods
        if pod.metadata.deletion_timestamp is None
        and {key: pod.metadata.labels.get(key) for key in wants} != wants
    ]


async def keep_adopted(
    scope: Scope, wanted: Wanted, live: Manifest | None, *, force: bool = False
) -> Outcome:
    """Label what is new, and with `force` take back a number that somebody else wrote.

    The lane of a new pod is loading until it has answered (law 7).
    """
    if live is None or not is_ours(live):
        return refused(f"Deployment {wanted.name} is not adopted")
    if force:
        await scope.writes.apply(scope.place(DEPLOYMENTS, wanted.name), _ours(live), force=True)
    labels = {marks.MODEL: wanted.subject, marks.CLASS: str(wanted.node_class)}
    for name in await unlabelled(scope, wanted, live):
        try:
            await scope.writes.patch(scope.place(PODS, name), {"metadata": {"labels": labels}})
        except MissingError:
            continue
    return DONE


def _ours(live: Manifest) -> Manifest:
    """Give what adopting applied, as it stands: what is left out would be taken away."""
    about = live["metadata"]
    labels, notes = about.get("labels") or {}, about.get("annotations") or {}
    return {
        "apiVersion": DEPLOYMENTS.api_version,
        "kind": "Deployment",
        "metadata": {
            "name": about["name"],
            "resourceVersion": about["resourceVersion"],
            "labels": {key: labels[key] for key in (marks.MODEL, marks.CLASS) if key in labels},
            "annotations": {key: notes[key] for key in _NOTES if key in notes},
        },
        "spec": {"replicas": live["spec"].get("replicas", 1)},
    }
