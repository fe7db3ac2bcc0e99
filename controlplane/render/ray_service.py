"""Handing a size to KubeRay: the patch of a RayService's worker group.

A custom resource's lists are replaced whole by a merge patch, so a JSON patch names the group by
its place, after testing that it is still there.
"""

from collections.abc import Sequence
from typing import Any

from controlplane.render.naming import Manifest

GROUPS = "/spec/rayClusterConfig/workerGroupSpecs"


class NoGroupError(ValueError):
    """A RayService has no worker group of that name; the text says which it has."""


def replicas_patch(
    ray_service: Manifest, group: str, count: int, victims: Sequence[str]
) -> list[Manifest]:
    """Give the JSON patch that sizes a worker group and names who leaves first."""
    groups: list[dict[str, Any]] = (
        ray_service.get("spec", {}).get("rayClusterConfig", {}).get("workerGroupSpecs", [])
    )
    names = [str(each.get("groupName")) for each in groups]
    if group in names:
        at = names.index(group)
    elif len(groups) == 1:
        at = 0
    else:
        raise NoGroupError(
            f"RayService {ray_service['metadata']['name']} has no worker group {group!r}; "
            f"it has {', '.join(names) or 'none'}"
        )
    patch: list[Manifest] = [
        {"op": "test", "path": f"{GROUPS}/{at}/groupName", "value": names[at]},
        {"op": "add", "path": f"{GROUPS}/{at}/replicas", "value": count},
    ]
    for bound, beyond in (("maxReplicas", max), ("minReplicas", min)):
        said = groups[at].get(bound)
        if said is not None and beyond(said, count) == count != said:
            patch.append({"op": "add", "path": f"{GROUPS}/{at}/{bound}", "value": count})
    if victims:
        patch.append(
            {
                "op": "add",
                "path": f"{GROUPS}/{at}/scaleStrategy",
                "value": {"workersToDelete": list(victims)},
            }
        )
    return patch
