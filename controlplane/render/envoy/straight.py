"""The same Envoy without admission, as it is compared with: straight to the engines, or a bucket.

Listener, limits and the engines' cluster are those of the gateway; what admission adds is left out.
Nothing may be refused for want of a connection, for then the comparison would be with that.
"""

from math import ceil
from typing import NamedTuple

from controlplane.domain.gateway import GatewayPlan
from controlplane.render.envoy.clusters import cluster, endpoint_file, taking
from controlplane.render.envoy.files import Site, fixed, whole
from controlplane.render.envoy.listener import listener, router
from controlplane.render.envoy.names import CLUSTER, PRIORITY, REASON, TICKET, cluster_name
from controlplane.render.envoy.protos import Plain, headers, seconds, typed
from controlplane.render.envoy.routes import way

UNBOUNDED = 1_000_000
EMPTY = "no-token"
LEAST_FILL_S = 0.05  # Envoy fills no bucket more often


class Bucket(NamedTuple):
    """A token bucket: so many requests a second, and so many at once when it is full."""

    rate: float
    size: int


def straight(plan: GatewayPlan, site: Site, bucket: Bucket | None = None) -> Plain:
    """Give the bootstrap of an Envoy that admits everybody, or whoever finds a token."""
    table: Plain = {"virtual_hosts": [{"name": "models", "domains": ["*"], "routes": _ways(plan)}]}
    at = listener(plan, site.listen, {"route_config": table})
    manager = at["filter_chains"][0]["filters"][0]["typed_config"]
    manager["http_filters"] = [*([] if bucket is None else [limited(bucket)]), router()]
    for ours in ("access_log", "local_reply_config"):
        del manager[ours]
    given = whole(plan, site)
    given["static_resources"] = {
        "clusters": [
            fixed(
                cluster(
                    model.name,
                    model,
                    members := taking(model.serving),
                    endpoint_file(cluster_name(model.name)),
                    plan,
                )
                | {"circuit_breakers": _unbounded()},
                {model.name: members},
            )
            for model in plan.models
        ],
        "listeners": [{key: value for key, value in at.items() if key != "@type"}],
    }
    return given


def limited(bucket: Bucket) -> Plain:
    """Give Envoy's own filter; it takes whole tokens only, so the interval makes up the rate."""
    tokens = max(1, ceil(bucket.rate * LEAST_FILL_S))
    enforced = {"default_value": {"numerator": 100, "denominator": "HUNDRED"}}
    return {
        "name": "envoy.filters.http.local_ratelimit",
        "typed_config": typed(
            "extensions.filters.http.local_ratelimit.v3.LocalRateLimit",
            stat_prefix="bucket",
            token_bucket={
                "max_tokens": max(bucket.size, tokens),
                "tokens_per_fill": tokens,
                "fill_interval": seconds(tokens / bucket.rate),
            },
            filter_enabled=enforced,
            filter_enforced=enforced,
            response_headers_to_add=headers(**{REASON: EMPTY}),
        ),
    }


def _ways(plan: GatewayPlan) -> list[Plain]:
    """Lead to the engines as the gateway does, but without a ticket; the first model has all."""
    found = []
    for model in plan.models[:1]:
        led = way(model, cluster_name(model.name), "")
        led["match"] = {"prefix": "/"}
        led["request_headers_to_remove"] = [TICKET, CLUSTER, PRIORITY]
        found.append(led)
    return found


def _unbounded() -> Plain:
    limits = dict.fromkeys(
        ("max_connections", "max_pending_requests", "max_requests", "max_retries"), UNBOUNDED
    )
    return {"thresholds": [{"priority": p, **limits} for p in ("DEFAULT", "HIGH")]}
