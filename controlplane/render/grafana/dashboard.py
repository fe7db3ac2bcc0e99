"""What the dashboard shows: the fleet, its load as the daemon sees it, the gateway, the daemon.

Several daemons may show the same fleet, so what they say of it is never added up: `max` over them.
Several gateways each have requests of their own: theirs are added up.
"""

from controlplane.render.grafana.panels import SOURCE, Panel, Plain, Query, named, rows

SCHEMA = 41  # of the classic model as Grafana 12 writes it; later ones import it
WINDOW = "[$__rate_interval]"
MODEL = 'model=~"$model"'
CLASS = f'{MODEL},priority=~"$priority"'
BY_CLASS = "{{model}} {{priority}}"
KNOWN = '{__name__=~"controlplane_(target_replicas|gateway_queued)"}'


def dashboard() -> Plain:
    """Give it."""
    sections = (
        ("Fleet", (*_figures(), *_fleet())),
        ("Load, as the daemon sees it", tuple(_load())),
        ("Gateway, by model and class", (*_waiting(), *_outcomes(), *_gateway())),
        ("Daemon", tuple(_daemon())),
    )
    return {
        "uid": "controlplane",
        "title": "controlplane",
        "description": "Fleets of AI-model servers: replicas, waits, refusals, breakers, cost.",
        "tags": ["controlplane"],
        "schemaVersion": SCHEMA,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "timezone": "browser",
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": _variables()},
        "annotations": {"list": []},
        "links": [],
        "panels": rows(sections),
    }


def _variables() -> list[Plain]:
    every = {"text": ["All"], "value": ["$__all"], "selected": True}
    choice: Plain = {"multi": True, "includeAll": True, "allValue": ".*", "current": every}
    classes = "high,medium,low"
    found = f"label_values({KNOWN},model)"
    return [
        {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"},
        {
            "name": "model",
            "label": "Model",
            "type": "query",
            "datasource": SOURCE,
            "query": {"query": found, "refId": "models"},
            "refresh": 2,
            "sort": 1,
            **choice,
        },
        {"name": "priority", "label": "Class", "type": "custom", "query": classes, **choice},
    ]


def _figures() -> list[Panel]:
    missing = f'controlplane_signal_missing{{{MODEL},why!~"Idle|NotExported"}}'

    def stat(title: str, about: str, expr: str, unit: str = "short") -> Panel:
        return Panel(title, about, [Query(expr, title)], unit, kind="stat", width=4)

    return [
        stat("Objectives broken", "Models that break a promise now.",
             f"sum(max by(model)(controlplane_slo_broken{{{MODEL}}}))"),
        stat("Signals missing", "Signals that are not known; nothing is scaled down meanwhile.",
             f"sum(max by(model,priority,signal)({missing})) or vector(0)"),
        stat("Leading", "Daemons that lead: 1, or 0 while they elect.",
             "sum(controlplane_leading)"),
        stat("Acting", "1 when decisions are acted on, 0 in advisory mode.",
             "max(controlplane_acting)"),
        stat("Cost per hour", "In the catalogue's currency, idle devices included.",
             "sum(max by(model,kind)(controlplane_cost_per_hour))"),
        stat("Devices free", "Devices nobody holds.",
             'sum(max by(node_class)(controlplane_devices{state="free"}))'),
    ]  # fmt: skip


def _fleet() -> list[Panel]:
    serving = f'controlplane_replicas{{{MODEL},lane="serving"}}'
    lanes = f"max by(model,lane)(controlplane_replicas{{{MODEL}}})"
    return [
        Panel("Target and serving", "Replicas wanted in service, and those that are.", [
            Query(f"max by(model)(controlplane_target_replicas{{{MODEL}}})", "{{model}} wanted"),
            Query(f"max by(model)({serving})", "{{model}} serving"),
        ]),
        Panel("Replicas by lane", "Loading, warm, serving, draining; all models together.", [
            Query(f"sum by(lane)({lanes})", "{{lane}}"),
        ], stacked=True),
        Panel("Cost per hour by model", "Without a name: devices nobody holds.", [
            Query('sum by(model)(max by(model,kind)(controlplane_cost_per_hour{model=~"$model|"}))',
                  "{{model}}"),
        ], stacked=True),
        Panel("Devices", "Held and free, by node class.", [
            Query("max by(node_class,state)(controlplane_devices)", "{{node_class}} {{state}}"),
        ], stacked=True),
        Panel("Decisions per minute", "By the code that decided; holds are counted too.", [
            Query(f"60*sum by(loop,code)(rate(controlplane_decisions_total{WINDOW}))",
                  "{{loop}} {{code}}"),
        ], width=24),
    ]  # fmt: skip


def _load() -> list[Panel]:
    def by_class(title: str, about: str, name: str, unit: str) -> Panel:
        expr = f"max by(model,priority)(controlplane_{name}{{{CLASS}}})"
        return Panel(title, about, [Query(expr, BY_CLASS)], unit, width=8)

    def by_model(title: str, about: str, name: str, unit: str) -> Panel:
        expr = f"max by(model)(controlplane_{name}{{{MODEL}}})"
        return Panel(title, about, [Query(expr, "{{model}}")], unit, width=8)

    return [
        by_class("Queue depth", "Requests waiting, by the source that is believed.",
                 "queue_depth", "short"),
        by_class("Wait P99", "99 of 100 got a slot within this time; a gap is not known.",
                 "wait_p99_seconds", "s"),
        by_class("Latency P99", "99 of 100 ended within this time.", "latency_p99_seconds", "s"),
        by_class("Arrivals", "Those turned away included.", "arrivals_per_second", "reqps"),
        by_class("Turned away", "Refused for want of capacity.",
                 "turned_away_per_second", "reqps"),
        by_model("Drain time", "Time the queue needs at the present throughput.",
                 "drain_seconds", "s"),
        by_model("Busy slots", "Requests on the engines.", "in_flight", "short"),
        by_model("KV cache", "In use.", "kv_cache_ratio", "percentunit"),
        by_model("Utilisation", "Mean of the devices in service; it is not load.",
                 "utilisation_ratio", "percentunit"),
    ]  # fmt: skip


def _waiting() -> list[Panel]:
    def quantiles(title: str, about: str, name: str) -> Panel:
        rate = f"rate(controlplane_gateway_{name}_bucket{{{CLASS}}}{WINDOW})"
        buckets = f"sum by(model,priority,le)({rate})"
        return Panel(title, about, [
            Query(f"histogram_quantile({share},{buckets})", f"{BY_CLASS} {word}")
            for share, word in ((0.5, "P50"), (0.99, "P99"))
        ], "s")  # fmt: skip

    return [
        Panel("Depth", "Requests waiting for a slot.", [
            Query(f"sum by(model,priority)(controlplane_gateway_queued{{{CLASS}}})", BY_CLASS),
        ]),
        Panel("Longest wait", "How long the longest waiting has waited so far.", [
            Query(f"max by(model,priority)(controlplane_gateway_oldest_wait_seconds{{{CLASS}}})",
                  BY_CLASS),
        ], "s"),
        quantiles("Wait P50 and P99", "From arrival to a slot.", "wait_seconds"),
        quantiles("Latency P50 and P99", "From arrival to the last byte.", "latency_seconds"),
    ]  # fmt: skip


def _outcomes() -> list[Panel]:
    def rate(name: str, by: str = "model,priority") -> str:
        return f"sum by({by})(rate(controlplane_gateway_{name}_total{{{CLASS}}}{WINDOW}))"

    return [
        Panel("Admitted", "Requests that got a slot.", [
            Query(rate("admitted"), BY_CLASS),
        ], "reqps"),
        Panel("Rejected by reason", "Requests refused.", [
            Query(rate("refused", "model,reason"), "{{model}} {{reason}}"),
        ], "reqps"),
        Panel("In flight", "Requests that hold a slot.", [
            Query(f"sum by(model,priority)(controlplane_gateway_running{{{CLASS}}})", BY_CLASS),
        ]),
        Panel("Aged, minimum service, evicted", "Per minute: moved up a class, given the one turn "
              "that is due to whoever waited longest, ended to make room.", [
            Query(f"60*{rate('aged')}", f"{BY_CLASS} aged"),
            Query(f"60*{rate('minimum_service')}", f"{BY_CLASS} minimum service"),
            Query(f"60*{rate('evicted')}", f"{BY_CLASS} evicted"),
        ]),
        Panel("Left, nonsense", "Per minute: clients that went while they waited, priorities that "
              "meant nothing.", [
            Query(f"60*{rate('left')}", f"{BY_CLASS} left"),
            Query(f"60*{rate('malformed')}", f"{BY_CLASS} nonsense"),
        ]),
        Panel("Refused before a model was found", "Unknown model or key, body too large.", [
            Query(f"sum by(reason)(rate(controlplane_gateway_unplaced_total{WINDOW}))",
                  "{{reason}}"),
        ], "reqps"),
    ]  # fmt: skip


def _gateway() -> list[Panel]:
    breaker = "controlplane_gateway_breaker"
    states = " or ".join(
        f'{value}*{breaker}{{{MODEL},state="{state}"}}' for value, state in enumerate(STATES)
    )
    spent, asks = (
        f"sum(rate(controlplane_gateway_shared_{what}_total{WINDOW}))"
        for what in ("seconds", "asks")
    )
    return [
        Panel("Breakers", "Closed, half-open while it is probed, open, or isolated by hand.", [
            Query(f"max by(model)({states})", "{{model}}"),
        ], kind="state-timeline", mappings=[
            named(value, state, color) for value, (state, color) in enumerate(STATES.items())
        ]),
        Panel("Time in Redis", "Mean time of asking for slots, where gateways share them.", [
            Query(f"{spent}/{asks}", "per ask"),
        ], "s", width=6),
        Panel("Slots asked for in Redis", "Asks a second; 1 under degraded while it is away.", [
            Query(asks, "asks/s"),
            Query("max(controlplane_gateway_degraded)", "degraded"),
        ], width=6),
    ]  # fmt: skip


# The worst state of several gateways is shown, so they are in that order.
STATES = {"closed": "green", "half-open": "yellow", "open": "red", "isolated": "purple"}


def _daemon() -> list[Panel]:
    cycles = f"sum by(loop,le)(rate(controlplane_cycle_seconds_bucket{WINDOW}))"
    return [
        Panel("Cycle P99", "Real time one cycle of a loop takes.", [
            Query(f"histogram_quantile(0.99,{cycles})", "{{loop}}"),
        ], "s", width=8),
        Panel("Since the last cycle", "Real time, by loop.", [
            Query("max by(loop)(controlplane_heartbeat_age_seconds)", "{{loop}}"),
        ], "s", width=8),
        Panel("Requests to pages and API", "By status.", [
            Query(f"sum by(status)(rate(controlplane_http_requests_total{WINDOW}))", "{{status}}"),
        ], "reqps", width=8),
    ]  # fmt: skip
