"""Envoy's files: written whole beside their place and renamed into it, and only when changed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec


def put(path: Path, content: bytes) -> bool:
    """Replace a file at once; say whether it was another."""
    try:
        if path.read_bytes() == content:
            return False
    except FileNotFoundError:
        pass
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(content)
    beside.rename(path)
    return True


def put_all(folder: Path, files: Mapping[str, Any]) -> list[str]:
    """Replace what changed, in order; name what was."""
    return [name for name, data in files.items() if put(folder / name, encoded(data))]


def sweep(folder: Path, keep: Mapping[str, Any]) -> None:
    """Remove the endpoint files of clusters that are gone."""
    for path in (folder / "eds").glob("*.json"):
        if f"eds/{path.name}" not in keep:
            path.unlink(missing_ok=True)


def encoded(data: Any) -> bytes:
    """Write it so that the same content is the same bytes."""
    return msgspec.json.format(msgspec.json.encode(data, order="deterministic"), indent=1)
