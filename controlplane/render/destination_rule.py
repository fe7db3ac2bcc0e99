"""The DestinationRule of a model's Service: pool limits, and which replicas are left alone.

Limits hold for each sidecar, so they are what admission lets through, never less: whoever was
admitted must not be refused a moment later. A 0 would count as unset. Outliers are judged by
gateway errors (502, 503, 504), for a 500 may be the request's own fault, and only where at least
two replicas serve. An engine whose bounded queue is full says 503 too: keep such bounds above what
admission lets through. What Istio would otherwise choose (a tenth ejected, no panic) is said.
"""

from math import ceil

from controlplane.decide.breakers.ejections import ejection_percent, ejection_s
from controlplane.domain import marks
from controlplane.domain.catalogue import Catalogue, Model
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import ModelName
from controlplane.render.naming import Manifest, dns_label, metadata

PANIC_PERCENT = 50


def destination_rule(
    name: ModelName, catalogue: Catalogue, namespace: str, replicas: int | None = None
) -> Manifest:
    """Render it for so many replicas in service; the policy's least, where nobody says."""
    model, istio = catalogue.models[name], catalogue.istio
    serving = model.policy.scaling.min if replicas is None else replicas
    policy: Manifest = {
        "connectionPool": _pool(model, ceil(istio.connect_s)),
        "loadBalancer": {"simple": "LEAST_REQUEST"},
    }
    outliers = _outliers(model, serving)
    if outliers:
        policy["outlierDetection"] = outliers
    label = dns_label(name)
    return {
        "apiVersion": f"networking.istio.io/{istio.version}",
        "kind": "DestinationRule",
        "metadata": metadata(label, namespace, {marks.MODEL: str(name)}),
        "spec": {
            "host": f"{label}.{namespace}.svc.{istio.cluster_domain}",
            "trafficPolicy": policy,
        },
    }


def _pool(model: Model, connect_s: int) -> Manifest:
    admission, breaker = model.policy.admission, model.policy.breaker
    slots = max(variant.slots for variant in model.variants.values())
    most = slots * (model.policy.scaling.max + model.policy.spare.count)
    if admission.limits == "fixed":
        most = max(most, sum(admission.fixed_limits.values()))
    pending = breaker.pending or max(1, sum(admission.queue_bounds.get(p, 0) for p in PRIORITIES))
    http: Manifest = {
        "http1MaxPendingRequests": pending,
        "http2MaxRequests": max(1, most),
        "maxRetries": max(1, most // 10),
    }
    if breaker.requests_per_connection is not None:
        http["maxRequestsPerConnection"] = breaker.requests_per_connection
    return {
        "tcp": {"maxConnections": max(1, most), "connectTimeout": f"{connect_s}s"},
        "http": http,
    }


def _outliers(model: Model, serving: int) -> Manifest | None:
    breaker = model.policy.breaker
    percent = ejection_percent(serving)
    if breaker.replica_failures is None or percent == 0:
        return None
    loads = max(variant.load_s for variant in model.variants.values())
    out_s = ejection_s(breaker, loads)
    return {
        "consecutive5xxErrors": 0,  # a 500 of one request says nothing about the replica
        "consecutiveGatewayErrors": breaker.replica_failures,
        "splitExternalLocalOriginErrors": True,
        "consecutiveLocalOriginFailures": breaker.replica_failures,
        "interval": f"{max(1, round(breaker.interval_s))}s",
        "baseEjectionTime": f"{max(1, round(out_s))}s",
        "maxEjectionPercent": percent,
        "minHealthPercent": PANIC_PERCENT,
    }
