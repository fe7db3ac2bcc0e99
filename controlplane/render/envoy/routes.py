"""Where requests go: without a ticket nowhere, with one to the cluster admission named.

The admission worker sets ticket and cluster; the table is looked up once before (what has to be
read of this request?) and once after it. Looking a cluster up is one step, however many models.
"""

from controlplane.domain.gateway import GatewayPlan, ServedModel
from controlplane.render.envoy.names import CLUSTER, MODELS, REASON, TICKET, cluster_name
from controlplane.render.envoy.protos import Plain, headers, seconds, typed

BODY_READER = "envoy.filters.http.json_to_metadata"
BUFFER = "envoy.filters.http.buffer"
RETRIES = 2


def routes(plan: GatewayPlan, secret: str) -> Plain:
    """Give the route table."""
    ways = {
        name: _action(way(model, name, secret))
        for model in plan.models
        for name in (cluster_name(model.name), cluster_name(model.name, lent=True))
    }
    waiting = typed("config.route.v3.RouteList", routes=_unadmitted(plan))
    table: Plain = {"on_no_match": {"action": _named("unadmitted", waiting)}}
    if ways:
        table["matcher_tree"] = {
            "input": {
                "name": "cluster",
                "typed_config": typed("type.matcher.v3.HttpRequestHeaderMatchInput")
                | {"header_name": CLUSTER},
            },
            "exact_match_map": {"map": ways},
        }
    host: Plain = {"name": "models", "domains": ["*"]}
    if ways:
        host["matcher"] = table
    else:
        host["routes"] = _unadmitted(plan)
    return {
        "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
        "name": "models",
        "virtual_hosts": [host],
        "validate_clusters": False,
    }


def way(model: ServedModel, name: str, secret: str) -> Plain:
    """Give the way to a cluster, for ticket holders."""
    return {
        "name": name,
        "match": {"prefix": "/", "headers": [_exactly(TICKET, secret)]},
        "route": {
            "cluster": name,
            "timeout": "0s",  # a stream may be of any length; the caller's deadline is a header
            "retry_policy": {
                # The stream's own idle timeout would be that of the route before admission.
                "per_try_idle_timeout": seconds(model.breaker.silence_s),
                "retry_on": "connect-failure,refused-stream,reset-before-request",
                "num_retries": RETRIES,
                "retry_back_off": {"base_interval": "0.010s", "max_interval": "0.100s"},
                "retry_host_predicate": [
                    {
                        "name": "envoy.retry_host_predicates.previous_hosts",
                        "typed_config": typed(
                            "extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"
                        ),
                    }
                ],
                "host_selection_retry_max_attempts": 3,
            },
        },
        "request_headers_to_remove": [TICKET, CLUSTER],
    }


def _unadmitted(plan: GatewayPlan) -> list[Plain]:
    """Answer for admission while it is away; where the way names the model, no body is read."""
    known: list[Plain] = [{"prefix": MODELS}]
    known += [{"prefix": f"{m.prefix}/"} for m in plan.models if m.prefix is not None]
    known += [
        {"prefix": "/", "headers": [_exactly(":authority", host)]}
        for model in plan.models
        for host in model.hosts
    ]
    found = [way for match in known for way in _ways_in(match, reads=False)]
    return [*found, *_ways_in({"prefix": "/"}, reads=True)]


def _ways_in(match: Plain, *, reads: bool) -> list[Plain]:
    """Only a body whose length nobody said is read whole before anything else."""
    told = {"name": "content-length", "present_match": True}
    of_length = {**match, "headers": [*match.get("headers", ()), told]}
    return [_closed(of_length, reads=reads, whole=False), _closed(match, reads=reads, whole=True)]


def _closed(match: Plain, *, reads: bool, whole: bool) -> Plain:
    route: Plain = {
        "match": match,
        "direct_response": {"status": 503, "body": {"inline_string": NOBODY}},
        "response_headers_to_add": headers(
            **{REASON: "admission-away", "retry-after": "1", "content-type": "application/json"}
        ),
    }
    idle = [*(() if reads else (BODY_READER,)), *(() if whole else (BUFFER,))]
    if idle:
        off = typed("config.route.v3.FilterConfig", disabled=True)
        route["typed_per_filter_config"] = dict.fromkeys(idle, off)
    return route


NOBODY = '{"error":{"message":"Admission is starting; ask again.","type":"admission-away"}}\n'


def _exactly(name: str, value: str) -> Plain:
    return {"name": name, "string_match": {"exact": value}}


def _action(route: Plain) -> Plain:
    return {"action": _named("way", typed("config.route.v3.Route") | route)}


def _named(name: str, config: Plain) -> Plain:
    return {"name": name, "typed_config": config}
