"""The files Envoy reads: one bootstrap for its life, and xDS files that a rename replaces."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from ipaddress import ip_address
from json import dumps
from typing import NamedTuple

from controlplane.domain.gateway import Endpoint, GatewayPlan
from controlplane.render.envoy.clusters import (
    assignment,
    clusters,
    endpoint_file,
    peers,
    placed,
    taking,
    with_files,
)
from controlplane.render.envoy.listener import listener
from controlplane.render.envoy.names import ADMISSION, PEERS, cluster_name
from controlplane.render.envoy.protos import Plain, address, file_source, typed
from controlplane.render.envoy.routes import routes

MOST_STREAMS = 1_000_000  # each request holds a stream; Envoy's default of 1,024 would refuse
MOST_CLIENTS = 50_000


class Site(NamedTuple):
    """Where this Envoy runs and what it talks to."""

    folder: str  # of its files
    listen: tuple[str, int]
    admin: tuple[str, int]  # a path and 0 for a Unix socket
    workers: tuple[tuple[str, int], ...]  # admission
    secret: str  # what a ticket says


def bootstrap(plan: GatewayPlan, site: Site) -> Plain:
    """Give what Envoy starts with; nothing in it changes with the fleet."""
    static = [_workers(site.workers)]
    manager: Plain = {}
    if plan.peers:
        static.append(peers(plan, f"{site.folder}/{endpoint_file(PEERS)}"))
        manager = {"cluster_manager": {"local_cluster_name": PEERS}}
    return {
        "node": {"id": "gateway", "cluster": PEERS, "locality": {"zone": plan.zone}},
        "admin": {"address": address(*site.admin)},
        "dynamic_resources": {
            "lds_config": file_source(f"{site.folder}/lds.json"),
            "cds_config": file_source(f"{site.folder}/cds.json"),
        },
        "static_resources": {"clusters": static},
        "overload_manager": {
            "resource_monitors": [
                {
                    "name": "envoy.resource_monitors.global_downstream_max_connections",
                    "typed_config": typed(
                        "extensions.resource_monitors.downstream_connections.v3."
                        "DownstreamConnectionsConfig",
                        max_active_downstream_connections=MOST_CLIENTS,
                    ),
                }
            ]
        },
        **manager,
    }


def xds_files(plan: GatewayPlan, site: Site) -> dict[str, Plain]:
    """Give every file by its name, in the order in which they are to be written."""
    source = {
        "rds": {
            "route_config_name": "models",
            "config_source": file_source(f"{site.folder}/rds.json"),
        }
    }
    filed = with_files(plan)
    files = {
        endpoint_file(name): response([assignment(name, members)])
        for name, members in _members(plan)
        if name == PEERS or name in filed
    }
    return {
        **files,
        "cds.json": response(clusters(plan, site.folder)),
        "rds.json": response([routes(plan, site.secret)]),
        "lds.json": response([listener(plan, site.listen, source)]),
    }


def whole(plan: GatewayPlan, site: Site) -> Plain:
    """Give it all as one static configuration, so that Envoy can be asked whether it holds."""
    given = bootstrap(plan, site)
    given.pop("dynamic_resources")
    members = dict(_members(plan))
    made = [fixed(one, members) for one in clusters(plan, site.folder)]
    table = {"route_config": _plain(routes(plan, site.secret))}
    static = [fixed(one, members) for one in given["static_resources"]["clusters"]]
    given["static_resources"] = {
        "clusters": [*static, *made],
        "listeners": [_plain(listener(plan, site.listen, table))],
    }
    return given


def response(resources: Sequence[Plain]) -> Plain:
    """Give a discovery response; the same content has the same version."""
    digest = blake2b(dumps(resources, sort_keys=True).encode(), digest_size=8)
    return {"version_info": digest.hexdigest(), "resources": list(resources)}


def _members(plan: GatewayPlan) -> list[tuple[str, Sequence[Endpoint]]]:
    found: list[tuple[str, Sequence[Endpoint]]] = []
    for model in plan.models:
        found.append((cluster_name(model.name), taking(model.serving)))
        found.append((cluster_name(model.name, lent=True), taking(model.lending)))
    if plan.peers:
        found.append((PEERS, plan.peers))
    return found


def fixed(cluster: Plain, members: Mapping[str, Sequence[Endpoint]]) -> Plain:
    """Give a cluster with its endpoints in place."""
    if "eds_cluster_config" not in cluster:
        return _plain(cluster)
    name = cluster["name"]
    rest = {k: v for k, v in _plain(cluster).items() if k != "eds_cluster_config"}
    known = all(_is_address(at.host) for at in members[name])
    return rest | {
        "type": "STATIC" if known else "STRICT_DNS",
        "load_assignment": placed(name, members[name]),
    }


def _is_address(host: str) -> bool:
    """Tell an address from a name, which Envoy has to look up."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _plain(message: Plain) -> Plain:
    return {key: value for key, value in message.items() if key != "@type"}


def _workers(workers: Sequence[tuple[str, int]]) -> Plain:
    """Give the cluster of admission workers; one that is away is passed over at once."""
    http2 = {
        "explicit_http_config": {
            "http2_protocol_options": {"max_concurrent_streams": 2**31 - 1},
        }
    }
    limits = dict.fromkeys(
        ("max_connections", "max_pending_requests", "max_requests", "max_retries"), MOST_STREAMS
    )
    return {
        "name": ADMISSION,
        "type": "STATIC",
        "connect_timeout": "1s",
        "lb_policy": "ROUND_ROBIN",
        "common_lb_config": {"healthy_panic_threshold": {"value": 0}},
        "circuit_breakers": {"thresholds": [{"priority": "DEFAULT", **limits}]},
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": typed(
                "extensions.upstreams.http.v3.HttpProtocolOptions", **http2
            )
        },
        "load_assignment": {
            "cluster_name": ADMISSION,
            "endpoints": [
                {"lb_endpoints": [{"endpoint": {"address": address(*at)}} for at in workers]}
            ],
        },
    }
