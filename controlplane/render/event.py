"""A decision as a Kubernetes Event on the Deployment it is about: reason = code.

The name is made of what is said, so that saying it again, after a restart too, finds the same Event
and counts on it instead of filling the cluster with copies.
"""

from dataclasses import dataclass
from hashlib import sha256

from controlplane.domain import marks
from controlplane.domain.reasons import ReasonCode
from controlplane.render.naming import Manifest

MOST_BYTES = 1024  # of a note; the API server refuses a longer one

WARNINGS = frozenset(
    {
        ReasonCode.CLASS_SHORT,
        ReasonCode.DRAIN_DEADLINE,
        ReasonCode.LATENCY_P99_BROKEN,
        ReasonCode.LOAD_TOO_SLOW,
        ReasonCode.MOST_NODES_SILENT,
        ReasonCode.NODE_SILENT,
        ReasonCode.NO_CLASS_FITS,
        ReasonCode.NO_DEVICES,
        ReasonCode.NO_DEVICE_FREE,
        ReasonCode.OWNED_BY_ANOTHER,
        ReasonCode.REPLICA_FAILED,
        ReasonCode.ROLLOUT_STUCK,
        ReasonCode.SIGNALS_UNKNOWN,
        ReasonCode.TURNED_AWAY,
        ReasonCode.UNSCHEDULABLE,
        ReasonCode.WAIT_P99_BROKEN,
        ReasonCode.WORKLOAD_DRIFTED,
        ReasonCode.WORKLOAD_REFUSED,
    }
)
"""Codes that somebody should look at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regarding:
    """The object an Event is about."""

    name: str
    namespace: str
    uid: str = ""
    kind: str = "Deployment"
    api_version: str = "apps/v1"


def event(about: Regarding, code: ReasonCode, said: str, at: str, reporter: str) -> Manifest:
    """Render an Event; `at` is an RFC 3339 time with microseconds."""
    note = shortened(said)
    digest = sha256(f"{about.kind}\n{about.uid}\n{code}\n{note}".encode()).hexdigest()
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"{about.name[:200]}.{digest[:16]}", "namespace": about.namespace},
        "regarding": {
            "apiVersion": about.api_version,
            "kind": about.kind,
            "name": about.name,
            "namespace": about.namespace,
            **({"uid": about.uid} if about.uid else {}),
        },
        "eventTime": at,
        "type": "Warning" if code in WARNINGS else "Normal",
        "reason": code.value,
        "action": "Decided",
        "note": note,
        "reportingController": f"{marks.PREFIX}{marks.MANAGER}",
        "reportingInstance": reporter[:128],
    }


def again(times: int, at: str) -> Manifest:
    """Give the merge patch that says an Event happened again."""
    return {"series": {"count": times, "lastObservedTime": at}}


def shortened(said: str) -> str:
    """Cut a note to the bytes the API server takes, at the end of a letter."""
    whole = said.encode()
    if len(whole) <= MOST_BYTES:
        return said
    return whole[: MOST_BYTES - 3].decode(errors="ignore") + "…"
