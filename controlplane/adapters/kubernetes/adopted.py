"""The pods of a Deployment that was there before us: they get our labels without being replaced.

A label in its template would replace them all. So the template is left alone, and pods that it
makes are labelled when they are seen: they load for a minute and more, which is time enough.
"""

from datetime import datetime

import msgspec

from controlplane.adapters.kubernetes.client import Manifest
from controlplane.adapters.kubernetes.fencing import refused
from controlplane.adapters.kubernetes.refusals import MissingError
from controlplane.adapters.kubernetes.resources import PODS
from controlplane.adapters.kubernetes.scope import Scope
from controlplane.adapters.kubernetes.selecting import selected_by
from controlplane.domain import marks
from controlplane.domain.decisions import DONE, Outcome
from controlplane.render.desired import Wanted


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


async def label_pods(scope: Scope, wanted: Wanted, live: Manifest | None) -> Outcome:
    """Label them; their lane is loading until they have answered (law 7)."""
    if live is None:
        return refused(f"Deployment {wanted.name} does not exist")
    labels = {marks.MODEL: wanted.subject, marks.CLASS: str(wanted.node_class)}
    for name in await unlabelled(scope, wanted, live):
        try:
            await scope.writes.patch(scope.place(PODS, name), {"metadata": {"labels": labels}})
        except MissingError:
            continue
    return DONE
