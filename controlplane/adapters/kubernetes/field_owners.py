"""Who wrote which field, read from an object's `managedFields`.

Whatever somebody else changes leaves our entry there, so what we wrote and no longer own has
drifted, and the entry that has it now names who did it. Nothing need be written to find out.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from controlplane.adapters.kubernetes.client import Manifest
from controlplane.domain import marks

Path = tuple[str, ...]  # the keys of FieldsV1: f:spec, f:containers, k:{"name":"engine"}, …

# Controllers that write beside us by design: the revision, and what defaulting adds.
_BY_DESIGN = frozenset({marks.MANAGER, "kube-controller-manager"})
REPLICAS: Path = ("f:spec", "f:replicas")
_HEAD = frozenset({"name", "namespace", "resourceVersion", "uid"})


class Drift(msgspec.Struct, frozen=True):
    """Fields of ours that another field manager wrote."""

    by: str
    fields: tuple[str, ...]

    @property
    def what(self) -> str:
        """Name the fields, the first few of them."""
        more = len(self.fields) - 3
        return ", ".join(self.fields[:3]) + (f" and {more} more" if more > 0 else "")


def drift(desired: Manifest, live: Manifest) -> Drift | None:
    """Say what we would write and somebody else has written since; of several, the first."""
    entries = _entries(live)
    ours = _ours(entries)
    taken: dict[str, list[str]] = {}
    for path in _lost(_writable(desired), ours, ()):
        for manager, fields in entries:
            if manager not in _BY_DESIGN and _find(fields, path) is not None:
                taken.setdefault(manager, []).append(_words(path))
    for manager, names in sorted(taken.items()):
        return Drift(manager, tuple(names))
    return None


def number_writer(live: Manifest) -> str | None:
    """Name who wrote the number of replicas last, if it was not us."""
    writers = [name for name, fields in _entries(live) if _find(fields, REPLICAS) is not None]
    if marks.MANAGER in writers or not writers:
        return None
    return writers[0]


def managers(live: Manifest) -> list[str]:
    """Name everybody who wrote the object, in order."""
    return list(dict.fromkeys(name for name, _ in _entries(live)))


def _entries(live: Manifest) -> list[tuple[str, Mapping[str, Any]]]:
    """Give managers and their fields; what a status says is nobody's wish."""
    return [
        (str(entry.get("manager", "")), entry.get("fieldsV1") or {})
        for entry in live.get("metadata", {}).get("managedFields") or []
        if entry.get("subresource") != "status"
    ]


def _ours(entries: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for manager, fields in entries:
        if manager == marks.MANAGER:
            _merge(merged, fields)
    return merged


def _merge(into: dict[str, Any], fields: Mapping[str, Any]) -> None:
    for key, inner in fields.items():
        _merge(into.setdefault(key, {}), inner or {})


def _writable(desired: Manifest) -> Manifest:
    """Leave out what names the object, which nobody can change."""
    head = {k: v for k, v in desired.get("metadata", {}).items() if k not in _HEAD}
    rest = {k: v for k, v in desired.items() if k not in {"apiVersion", "kind", "metadata"}}
    return {"metadata": head, **rest}


def _lost(desired: Mapping[str, Any], ours: Mapping[str, Any], at: Path) -> Iterator[Path]:
    """Walk what we would write; give where our entry has nothing."""
    for key, value in desired.items():
        path = (*at, f"f:{key}")
        inner = ours.get(f"f:{key}")
        if inner is None:
            yield path
        elif isinstance(value, dict) and _branches(inner):
            yield from _lost(value, inner, path)
        elif isinstance(value, list) and _branches(inner):
            yield from _lost_items(value, inner, path)


def _lost_items(items: Sequence[Any], ours: Mapping[str, Any], at: Path) -> Iterator[Path]:
    for item in items:
        if not isinstance(item, dict):
            continue
        key = next((k for k in ours if k.startswith("k:") and _names(k, item)), None)
        if key is None:
            yield at
        else:
            yield from _lost(item, ours[key], (*at, key))


def _names(key: str, item: Mapping[str, Any]) -> bool:
    """Say whether a key such as k:{"name":"engine"} is this item's."""
    said: dict[str, Any] = json.loads(key[2:])
    return all(item.get(name) == value for name, value in said.items())


def _branches(fields: Mapping[str, Any]) -> bool:
    """Say whether it is owned by its parts; otherwise it is owned whole."""
    return any(key != "." for key in fields)


def _find(fields: Mapping[str, Any], path: Path) -> Mapping[str, Any] | None:
    found: Any = fields
    for key in path:
        if not isinstance(found, Mapping) or key not in found:
            return None
        found = found[key]
    return found if isinstance(found, Mapping) else {}


def _words(path: Path) -> str:
    """Write a path as people write it: spec.template.spec.containers[engine].image."""
    said = ""
    for key in path:
        if key.startswith("k:"):
            named = ",".join(str(value) for value in json.loads(key[2:]).values())
            said += f"[{named}]"
        else:
            said += f".{key[2:]}"
    return said.lstrip(".")
