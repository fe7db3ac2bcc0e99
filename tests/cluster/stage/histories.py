"""Every lane each pod was in, one after the other: what flickered is seen, and what never was."""

from controlplane.domain import marks
from tests.cluster.api import Api, Manifest
from tests.cluster.stage.following import Following
from tests.cluster.stage.lanes import LANE


class Histories(Following):
    """Follows the pods of a namespace, and notes what must never be."""

    def __init__(self, api: Api, namespace: str) -> None:
        super().__init__(api, f"/api/v1/namespaces/{namespace}/pods", self._look)
        self.lanes: dict[str, list[str]] = {}  # pod -> lanes, each change once
        self.wrong: list[str] = []

    def _look(self, kind: str, pod: Manifest) -> None:
        meta = pod["metadata"]
        name, lane = meta["name"], meta.get("labels", {}).get(LANE, "loading")
        seen = self.lanes.setdefault(name, [])
        if seen[-1:] != [lane]:
            seen.append(lane)
        if lane != "serving":
            return
        if marks.WARMED_UP not in meta.get("annotations", {}):
            self.wrong.append(f"{name} serves and was never warmed up")
        if kind != "DELETED" and "deletionTimestamp" in meta:
            self.wrong.append(f"{name} was deleted while it served")
