"""The ScaledObjects we publish. One writer per target: whoever else scales it is named, not fought.

They are written by server-side apply with strict validation, so a field the definition does not
know is refused before anything is changed, and a field somebody else set is a conflict.
"""

from collections.abc import Mapping

import msgspec

from controlplane.adapters.kubernetes.client import Api, Manifest
from controlplane.adapters.kubernetes.fencing import REFUSALS, Fenced, outcome_of, refused
from controlplane.adapters.kubernetes.ownership import rivals
from controlplane.adapters.kubernetes.refusals import MissingError
from controlplane.adapters.kubernetes.resources import SCALED_OBJECTS, Place
from controlplane.domain import marks
from controlplane.domain.decisions import DONE, Outcome
from controlplane.domain.quantities import ModelName

OURS = f"app.kubernetes.io/managed-by={marks.MANAGER}"


class _Named(msgspec.Struct, frozen=True):
    name: str = ""
    labels: Mapping[str, str] = {}


class _Object(msgspec.Struct, frozen=True):
    metadata: _Named = _Named()


class ScaledObjects:
    """Those of one namespace."""

    def __init__(self, api: Api, writes: Fenced, namespace: str) -> None:
        """Write through the fence."""
        self._api = api
        self._writes = writes
        self._namespace = namespace

    async def names(self) -> Mapping[str, ModelName]:
        """Name those that are ours, each with its model; without KEDA there are none."""
        try:
            found = await self._api.list(self._place(), _Object, labels=OURS)
        except MissingError:
            return {}
        return {
            each.metadata.name: ModelName(each.metadata.labels.get(marks.MODEL, ""))
            for each in found
        }

    async def apply(self, manifest: Manifest) -> Outcome:
        """Make one so, unless somebody else scales its Deployment."""
        name = manifest["metadata"]["name"]
        target = manifest["spec"]["scaleTargetRef"]["name"]
        try:
            rival = (await rivals(self._api, self._namespace)).get(f"Deployment/{target}")
            ours = rival is not None and (rival.kind, rival.name) == ("scaledobject", name)
            if rival is not None and not (ours and name in await self.names()):
                return refused(
                    f"the number of Deployment {target} is written by {rival.by} and would be by "
                    f"our ScaledObject {name} too; {rival.show} shows it, controlplane import "
                    f"{self._namespace}/{rival.name} takes it over"
                )
            await self._writes.apply(self._place(name), manifest)
        except MissingError:
            return refused(
                "this cluster knows no ScaledObjects: install KEDA, or set policy.scaling.writer"
            )
        except REFUSALS as cause:
            return outcome_of(cause, f"ScaledObject {name}")
        return DONE

    async def remove(self, name: str) -> Outcome:
        """Take one away."""
        try:
            await self._writes.delete(self._place(name))
        except MissingError:
            return DONE
        except REFUSALS as cause:
            return outcome_of(cause, f"ScaledObject {name}")
        return DONE

    def _place(self, name: str | None = None) -> Place:
        return Place(SCALED_OBJECTS, self._namespace, name)
