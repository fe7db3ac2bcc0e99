"""How many devices of which resource: extended resources as manifests count them."""

from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation

_SCALES = {"k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_OWN = ("kubernetes.io/", "k8s.io/")  # what Kubernetes itself counts


def whole(written: str) -> int:
    """Read a count; extended resources are whole, but may be written `1k`."""
    digits = written.rstrip("kKMGi")
    try:
        return int(Decimal(digits) * _SCALES.get(written[len(digits) :], 1))
    except InvalidOperation:
        return 0


def extended(counts: Mapping[str, str]) -> dict[str, int]:
    """Keep the extended resources: those a device plugin advertises."""
    return {
        name: whole(count)
        for name, count in counts.items()
        if "/" in name and not name.startswith(_OWN)
    }


def together(*counts: Mapping[str, int]) -> dict[str, int]:
    """Add counts up."""
    total: dict[str, int] = {}
    for one in counts:
        for name, count in one.items():
            total[name] = total.get(name, 0) + count
    return total


def most(*counts: Mapping[str, int]) -> dict[str, int]:
    """Give the larger of each."""
    names: Iterable[str] = {name for one in counts for name in one}
    return {name: max(one.get(name, 0) for one in counts) for name in names}
