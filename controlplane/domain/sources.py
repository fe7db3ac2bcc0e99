"""Where the signals come from: which sources, in which order, and by which labels they are joined.

Exporters and scrape configurations name the same thing differently, so every name by which series
find their replica or their model is a setting. The first label of a list that a series carries
counts: the one that is most surely about the workload, not about the exporter, stands first.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from annotated_types import Len, Predicate

from controlplane.domain.policies import STRICT
from controlplane.domain.quantities import PositiveCount, PositiveSeconds

SourceName = Literal["gateway", "engines", "prometheus"]
SignalName = Literal[
    "queue",
    "arrivals",
    "turned_away",
    "wait_p99",
    "latency_p99",
    "in_flight",
    "service_s",
    "kv_usage",
    "vram",
    "utilisation",
    "device_health",
]
Queries: TypeAlias = Mapping[SignalName, Annotated[str, Len(1)]]


PASSWORD = re.compile(r"(?<=://)([^/?#\s:@]*):[^/?#\s]*@")  # user:password@host
_KEY = re.compile(r"([?&][^=&#\s]*(?:token|key|secret|password|sign)=)[^&#\s]+", re.IGNORECASE)


def shown(address: str) -> str:
    """Give an address as everybody may read it: its password and its keys are left out."""
    return _KEY.sub(r"\1***", PASSWORD.sub(r"\1:***@", address))


def server_of(address: str) -> str:
    """Name the server of an address and no more, where the path itself may be a secret."""
    scheme, _, rest = address.partition("://")
    host = rest.partition("/")[0].partition("?")[0].rpartition("@")[2]
    return f"{scheme}://{host}"


def is_address(written: str) -> bool:
    """Say whether something is the address of an HTTP server."""
    scheme, _, rest = written.partition("://")
    return scheme in {"http", "https"} and bool(rest.strip("/")) and " " not in written


def is_label(written: str) -> bool:
    """Say whether something can be the name of a Prometheus label."""
    plain = written.replace("_", "a")
    return plain.isascii() and plain.isalnum() and not plain[0].isdigit()


Address = Annotated[str, Predicate(is_address)]
LabelName = Annotated[str, Predicate(is_label)]
LabelNames = Annotated[tuple[LabelName, ...], Len(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusSource:
    """A Prometheus, or what speaks its API: Thanos, Mimir, VictoriaMetrics."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    address: Address
    """Where its API is, without /api/v1: http://prometheus.monitoring:9090."""
    token_file: str | None = None
    """File with the bearer token, where it wants one."""
    timeout_s: PositiveSeconds = 3.0
    """A later answer is none; the others are not kept waiting."""
    window_s: PositiveCount = 120
    """Window of rates and percentiles. At least four scrapes, or a rate is a guess."""
    pod_labels: LabelNames = ("exported_pod", "pod_name", "pod")
    """Labels that name the replica, in this order. DCGM's `pod` becomes `exported_pod` unless
    honorLabels is set; Ascend's npu-exporter says `pod_name`."""
    namespace_labels: LabelNames = ("exported_namespace", "pod_namespace", "namespace")
    """Labels that name its namespace."""
    model_label: LabelName = "controlplane_dev_model"
    """Label that names the model in the catalogue: the pods' own, as PodMonitors copy it."""
    only: Mapping[LabelName, str] = field(default_factory=dict)
    """Labels every series must have, e.g. {cluster: east}, where one Prometheus knows several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalsPolicy:
    """Which sources are asked, and which of them is believed."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    order: Annotated[tuple[SourceName, ...], Len(1)] = ("gateway", "engines", "prometheus")
    """The first source with a fresh sample wins, signal by signal."""
    orders: Mapping[SignalName, Annotated[tuple[SourceName, ...], Len(1)]] = field(
        default_factory=dict
    )
    """Another order for one signal."""
    fresh_s: PositiveSeconds = 60.0
    """An older sample is stale. DCGM's exporter reads its devices every 30 s only."""
    prometheus: PrometheusSource | None = None
    """The Prometheus that is asked, if any."""

    def order_of(self, signal: SignalName) -> tuple[SourceName, ...]:
        """Give the order in which sources are believed about a signal."""
        return self.orders.get(signal, self.order)
