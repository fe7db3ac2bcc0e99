"""A model's replicas as Envoy clusters: how they are balanced, bounded, and left alone.

Who was admitted must not be refused, so bounds lie above what admission lets through unless the
policy says otherwise. Retries only where the engine cannot have seen the request. Nothing may stay
in service because too many are out: the panic threshold is 0, and how many may be out is bounded.
"""

from collections.abc import Sequence
from itertools import islice

from controlplane.decide.breakers.ejections import ejection_percent, ejection_s, ejections
from controlplane.domain.gateway import Endpoint, GatewayPlan, ServedModel
from controlplane.render.envoy.names import PEERS, cluster_name
from controlplane.render.envoy.protos import Plain, address, file_source, seconds, typed

CONNECT_S = 2.0
ROOM = 1024  # what Envoy allows by default
BEYOND_K = 2  # while K falls, more may run than there are slots
KEPT_S = 4.0  # engines on uvicorn close idle connections after 5 s; we must be first
LARGEST_EJECTION_S = 300.0
# Envoy watches each file by an inotify instance of its own, and aborts when there are no more, of
# which Linux gives all processes of a user 128. Beyond these, a change of endpoints replaces the
# cluster: milliseconds longer, and who was left alone is forgotten; requests under way go on.
MOST_FILES = 60
_LEAST = "extensions.load_balancing_policies.least_request.v3.LeastRequest"
_HTTP = "extensions.upstreams.http.v3.HttpProtocolOptions"


def clusters(plan: GatewayPlan, folder: str) -> list[Plain]:
    """Give every cluster; where its endpoints are stands in a file, or in the cluster itself."""
    filed = with_files(plan)
    found = []
    for model in plan.models:
        for lent in (False, True):
            name = cluster_name(model.name, lent=lent)
            members = taking(model.lending if lent else model.serving)
            path = f"{folder}/{endpoint_file(name)}" if name in filed else None
            found.append(cluster(name, model, members, path, plan))
    return found


def with_files(plan: GatewayPlan) -> frozenset[str]:
    """Name the clusters whose endpoints have a file of their own: the first ones."""
    names = (cluster_name(m.name, lent=lent) for m in plan.models for lent in (False, True))
    return frozenset(islice(names, MOST_FILES))


def taking(members: Sequence[Endpoint]) -> tuple[Endpoint, ...]:
    """Leave out those that get nothing new."""
    return tuple(at for at in members if at.taking)


def cluster(
    name: str, model: ServedModel, members: Sequence[Endpoint], path: str | None, plan: GatewayPlan
) -> Plain:
    """Give one cluster; its endpoints are in that file, or without one in itself."""
    breaker = model.breaker
    place: Plain = {"type": "STATIC", "load_assignment": placed(name, members)}
    if path is not None:
        place = {"type": "EDS", "eds_cluster_config": {"eds_config": file_source(path)}}
    rendered: Plain = {
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "name": name,
        **place,
        "connect_timeout": seconds(CONNECT_S),
        "load_balancing_policy": balancing(plan),
        "common_lb_config": {"healthy_panic_threshold": {"value": 0}},
        "circuit_breakers": bounds(model, members),
        "ignore_health_on_host_removal": True,
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": protocol(
                breaker.requests_per_connection
            )
        },
    }
    if breaker.replica_failures is not None and ejections(len(members)):
        rendered["outlier_detection"] = outliers(model, len(members))
    if model.tls:
        rendered["transport_socket"] = {
            "name": "envoy.transport_sockets.tls",
            "typed_config": typed("extensions.transport_sockets.tls.v3.UpstreamTlsContext"),
        }
    return rendered


def balancing(plan: GatewayPlan) -> Plain:
    """Say how replicas are chosen: near ones first as far as all stay evenly loaded.

    Who was admitted was promised a free slot somewhere, so every replica is looked at; the better
    of two taken at random often has none, and the request waits in an engine beside an idle one.
    """
    locality: Plain = {}
    if plan.peers and plan.zone:
        locality = {"locality_lb_config": {"zone_aware_lb_config": {"min_cluster_size": 2}}}
    policy = typed(_LEAST, selection_method="FULL_SCAN", **locality)
    named = {"name": "envoy.load_balancing_policies.least_request", "typed_config": policy}
    return {"policies": [{"typed_extension_config": named}]}


def bounds(model: ServedModel, members: Sequence[Endpoint]) -> Plain:
    """Give Envoy's own limits; zero pending would refuse everything."""
    slots = sum(at.slots for at in members)
    room = max(ROOM, BEYOND_K * slots)
    limits = {"max_connections": room, "max_requests": room, "max_retries": room}
    pending = model.breaker.pending or room
    return {
        "thresholds": [
            {"priority": priority, "max_pending_requests": pending, **limits}
            for priority in ("DEFAULT", "HIGH")
        ]
    }


def outliers(model: ServedModel, n: int) -> Plain:
    """Say when one of n replicas is left alone, and how many may be at once (A8)."""
    breaker = model.breaker
    out_s = ejection_s(breaker, model.recovery_s)
    return {
        "consecutive_5xx": breaker.replica_failures,
        "consecutive_gateway_failure": breaker.replica_failures,
        "interval": seconds(breaker.interval_s),
        "base_ejection_time": seconds(out_s),
        "max_ejection_time": seconds(max(LARGEST_EJECTION_S, out_s)),
        "max_ejection_percent": ejection_percent(n),
        "always_eject_one_host": False,
        "enforcing_consecutive_5xx": 100,
        "enforcing_consecutive_gateway_failure": 0,  # it is a part of the above
        "enforcing_success_rate": 0,  # replicas differ by what they were given
    }


def protocol(requests_per_connection: int | None) -> Plain:
    """Speak HTTP/1.1, close idle connections before the engine does; busy is not broken (A9)."""
    common: Plain = {"idle_timeout": seconds(KEPT_S)}
    if requests_per_connection is not None:
        common["max_requests_per_connection"] = requests_per_connection
    return typed(
        _HTTP,
        explicit_http_config={"http_protocol_options": {}},
        common_http_protocol_options=common,
        outlier_detection={"error_matcher": BROKEN},
    )


def _status(pattern: str) -> Plain:
    return {
        "name": ":status",
        "string_match": {"safe_regex": {"regex": pattern}},
    }


# A 5xx that is neither 501 (asked for what it never had) nor a 503 that says when to come back.
BROKEN: Plain = {
    "and_match": {
        "rules": [
            {"http_response_headers_match": {"headers": [_status("5[0-9][0-9]")]}},
            {"not_match": {"http_response_headers_match": {"headers": [_status("501")]}}},
            {
                "not_match": {
                    "http_response_headers_match": {
                        "headers": [
                            _status("503"),
                            {"name": "retry-after", "present_match": True},
                        ]
                    }
                }
            },
        ]
    }
}


def endpoint_file(name: str) -> str:
    """Name the file of a cluster's endpoints."""
    return f"eds/{name}.json"


def assignment(name: str, members: Sequence[Endpoint]) -> Plain:
    """Give a cluster's endpoints as a resource of their own."""
    kind = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
    return {"@type": kind, **placed(name, members)}


def placed(name: str, members: Sequence[Endpoint]) -> Plain:
    """Give a cluster's endpoints by zone; one of many slots gets as many more requests."""
    zones: dict[str, list[Plain]] = {}
    for at in members:
        place = {
            "endpoint": {"address": address(at.host, at.port), "hostname": at.replica},
            "load_balancing_weight": max(1, at.slots),
        }
        zones.setdefault(at.zone, []).append(place)
    return {
        "cluster_name": name,
        "endpoints": [
            {"locality": {"zone": zone}, "lb_endpoints": places}
            for zone, places in sorted(zones.items())
        ],
    }


def peers(plan: GatewayPlan, path: str) -> Plain:
    """Give the cluster of all gateways: zone-aware balancing asks how many stand in which zone."""
    del plan
    return {
        "name": PEERS,
        "type": "EDS",
        "eds_cluster_config": {"eds_config": file_source(path)},
        "connect_timeout": seconds(CONNECT_S),
    }
