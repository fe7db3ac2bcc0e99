"""A group of alerts as Alertmanager's webhook would send it (version 4)."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from controlplane.domain.alerts import Alert
from controlplane.domain.quantities import Instant

VERSION = "4"
NEVER = "0001-01-01T00:00:00Z"  # when a firing alert ends
RECEIVER = "controlplane"


class Told(NamedTuple):
    """An alert, and when it ended, if it has."""

    alert: Alert
    ended: Instant | None = None


def payload(name: str, group: Iterable[Told], address: str) -> bytes:
    """Write one message about the alerts of one name."""
    told = list(group)
    firing = any(each.ended is None for each in told)
    labels = [each.alert.labels for each in told]
    message: dict[str, Any] = {
        "version": VERSION,
        "groupKey": f'{{}}:{{alertname="{name}"}}',
        "truncatedAlerts": 0,
        "status": "firing" if firing else "resolved",
        "receiver": RECEIVER,
        "groupLabels": {"alertname": name},
        "commonLabels": _shared(labels),
        "commonAnnotations": _shared([_annotations(each.alert) for each in told]),
        "externalURL": address,
        "alerts": [_alert(each, address) for each in told],
    }
    return msgspec.json.encode(message)


def fingerprint(labels: Mapping[str, str]) -> str:
    """Name an alert by its labels: the same labels are the same alert."""
    text = "\xff".join(f"{key}\xfe{labels[key]}" for key in sorted(labels))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _alert(told: Told, address: str) -> dict[str, Any]:
    labels = told.alert.labels
    return {
        "status": "firing" if told.ended is None else "resolved",
        "labels": labels,
        "annotations": _annotations(told.alert),
        "startsAt": _moment(told.alert.since),
        "endsAt": NEVER if told.ended is None else _moment(told.ended),
        "generatorURL": f"{address}/models/{told.alert.key.model}" if address else "",
        "fingerprint": fingerprint(labels),
    }


def _annotations(alert: Alert) -> dict[str, str]:
    return {"summary": alert.summary, "description": alert.summary}


def _shared(maps: list[dict[str, str]]) -> dict[str, str]:
    first, *others = maps
    return {k: v for k, v in first.items() if all(other.get(k) == v for other in others)}


def _moment(at: Instant) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
