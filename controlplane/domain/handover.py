"""How decisions are handed to those who carry them out elsewhere: KEDA, Istio, people's pagers."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Len, Predicate

from controlplane.domain.policies import STRICT
from controlplane.domain.quantities import PositiveCount, PositiveSeconds, Seconds
from controlplane.domain.sources import Address

ScalerMetric = Literal["target", "drain", "wait_p99", "weighted_depth"]
TriggerKind = Literal["target", "drain", "wait_p99", "weighted_depth", "prometheus"]


def is_host_port(written: str) -> bool:
    """Say whether something is HOST:PORT."""
    host, _, port = written.rpartition(":")
    return bool(host) and port.isdecimal() and len(port) < 6 and 0 < int(port) < 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class KedaHandover:
    """What ScaledObjects say, for models whose `writer` is keda."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    scaler_address: Annotated[str, Predicate(is_host_port)] = "controlplane-scaler:50051"
    """Where KEDA reaches our external scaler: the Service of deploy/keda, with its namespace."""
    tls: bool = False
    """The scaler is asked over TLS."""
    authentication: str | None = None
    """A TriggerAuthentication with its caCert, tlsClientCert and tlsClientKey."""
    trigger: TriggerKind = "target"
    """target: KEDA carries out our decision · drain, wait_p99, weighted_depth: it decides on one
    of our signals · prometheus: it asks a Prometheus, without us."""
    polling_s: PositiveCount = 15
    """How often KEDA asks when there are no replicas; the HPA has its own period."""
    failures: PositiveCount = 3
    """After so many failures in a row KEDA falls back to what is there, never to fewer."""
    tolerance: bool = True
    """Say that every difference counts. Needs Kubernetes 1.35: before, from 10 replicas on, an HPA
    leaves alone whatever is within a tenth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IstioHandover:
    """For which Istio, and with what patience, DestinationRules are rendered."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    version: Literal["v1", "v1beta1"] = "v1"
    """v1 since Istio 1.22; older ones know v1beta1."""
    cluster_domain: Annotated[str, Len(1)] = "cluster.local"
    """The domain Services are named under."""
    connect_s: PositiveSeconds = 5.0
    """A replica that takes longer to accept a connection has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertsPolicy:
    """When people are told what the daemon alone knows, and where."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    webhook: Address | None = None
    """A receiver of Alertmanager's webhooks; bridges to chats and pagers are such receivers."""
    token_file: str | None = None
    """File with the bearer token, where it wants one."""
    no_data_s: PositiveSeconds = 300.0
    """Signals of a model that are missing so long are worth a person."""
    after_s: Seconds = 60.0
    """Anything else is told when it has lasted so long."""
    group_wait_s: Seconds = 10.0
    """What comes within so long of the first goes out as one message."""
    repeat_s: PositiveSeconds = 14400.0
    """What still stands is told again after so long."""
