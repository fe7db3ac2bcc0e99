"""What a Prometheus is given: recording rules, alerts, and what to scrape.

Recording rules call the same thing the same for every engine and exporter, so dashboards need know
none of them. Alerts are of what our own metrics say; what the daemon alone knows comes over its
webhook. Rules are plain groups, which a Prometheus takes as a file and an operator as a
PrometheusRule.
"""

from collections.abc import Iterable

from controlplane.domain import marks
from controlplane.domain.serving import EngineKind
from controlplane.domain.sources import PrometheusSource
from controlplane.render.engine_metrics import (
    BUSY,
    ENGINES,
    HEALTHY,
    MEMORY,
    XID,
    EngineMetrics,
    folded,
)
from controlplane.render.hpa import WANTED
from controlplane.render.naming import Manifest
from controlplane.render.probes import HTTP, METRICS

EVERY = "15s"
NAMESPACE_LABEL, POD_LABEL = "namespace", "pod"


def recording_groups(source: PrometheusSource) -> list[Manifest]:
    """Give the recording rules: one group for each engine, one for devices."""
    groups: list[Manifest] = []
    for kind, engine in ENGINES.items():
        rules = list(_of_engine(kind, engine, source))
        if rules:
            groups.append({"name": f"controlplane-{kind}", "interval": EVERY, "rules": rules})
    return [*groups, {"name": "controlplane-devices", "interval": EVERY, "rules": _devices(source)}]


def alert_groups() -> list[Manifest]:
    """Give the alerts of what our metrics say."""
    missing = 'controlplane_signal_missing{why!~"Idle|NotExported"}'
    serving = 'controlplane_replicas{lane="serving"}'
    rules = [
        _alert("LoopSilent", "controlplane_loop_silent>0", "1m", "critical",
               "the loop {{ $labels.loop }} has been silent for three of its periods"),
        _alert("NobodyLeads", "sum(controlplane_leading)==0", "1m", "critical",
               "no daemon leads: nothing is decided"),
        _alert("SignalMissing", f"max by(model,signal,why)({missing})>0", "5m", "warning",
               "{{ $labels.signal }} of {{ $labels.model }} is not known: {{ $labels.why }}; "
               "nothing is scaled down meanwhile"),
        _alert("ObjectiveBroken", "max by(model)(controlplane_slo_broken)>0", "5m", "warning",
               "{{ $labels.model }} breaks an objective"),
        _alert("TargetUnreachable",
               f"max by(model)(controlplane_target_replicas)-max by(model)({serving})>0",
               "10m", "warning",
               "{{ $labels.model }} lacks {{ $value }} replicas in service"),
        _alert("DeviceSick", "min by(model)(controlplane_healthy_devices_ratio)<1", "5m", "warning",
               "a device of {{ $labels.model }} is not well by what its exporter says"),
        _alert("CatalogueRefused", "max(controlplane_catalogue_refused)>0", "1m", "warning",
               "a newer fleet file is refused for its faults; the old one is in force"),
    ]  # fmt: skip
    return [{"name": "controlplane", "rules": rules}]


def rule(name: str, namespace: str, groups: list[Manifest]) -> Manifest:
    """Wrap groups for the Prometheus operator."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": name, "namespace": namespace, "labels": _labels()},
        "spec": {"groups": groups},
    }


def pod_monitors(namespace: str) -> list[Manifest]:
    """Say what is to be scraped: our replicas, ourselves, and gateways that are pods of their own.

    The pods' labels for model and class come along: by the first, histograms are added up.
    """
    endpoint = {"interval": EVERY, "path": "/metrics"}
    replicas = {
        "selector": {"matchExpressions": [{"key": marks.MODEL, "operator": "Exists"}]},
        "podTargetLabels": [marks.MODEL, marks.CLASS],
        "podMetricsEndpoints": [
            {**endpoint, "port": HTTP},
            {**endpoint, "port": METRICS},  # of engines that have a port of its own for them
        ],
    }
    own = [
        _monitor(name, namespace, {
            "selector": {"matchLabels": {
                "app.kubernetes.io/name": "controlplane", "app.kubernetes.io/component": component,
            }},
            "podMetricsEndpoints": [{**endpoint, "port": port}],
        })
        for name, component, port in (
            ("controlplane", "daemon", HTTP), ("controlplane-gateway", "gateway", METRICS)
        )
    ]  # fmt: skip
    return [_monitor("controlplane-replicas", namespace, replicas), *own]


def adapter_rules() -> Manifest:
    """Give prometheus-adapter's rule by which an HPA reads what we want."""
    return {
        "externalRules": [
            {
                "seriesQuery": f'{{__name__="{WANTED}"}}',
                "resources": {"overrides": {}, "namespaced": False},
                "name": {"as": WANTED},
                "metricsQuery": "max(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
            }
        ]
    }


def _of_engine(
    kind: EngineKind, engine: EngineMetrics, source: PrometheusSource
) -> Iterable[Manifest]:
    by_replica = f"{source.model_label},{NAMESPACE_LABEL},{POD_LABEL}"
    for record, selectors in (
        ("replica:engine_waiting:now", engine.waiting),
        ("replica:engine_running:now", engine.running),
        ("replica:engine_kv_usage:ratio", engine.kv_usage),
    ):
        if selectors:
            share = selectors is engine.kv_usage
            values = [folded(engine, by_replica, each, share=share) for each in selectors]
            yield _record(record, " or ".join(values), kind)
    window, model = f"[{source.window_s}s]", source.model_label
    for what, name in (("latency", engine.latency), ("queue_time", engine.queue_time)):
        if name is not None:
            buckets = f"sum by({model},le)(rate({name}_bucket{window}))"
            yield _record(
                f"model:engine_{what}_seconds:p99", f"histogram_quantile(0.99,{buckets})", kind
            )
    ended = f"{engine.latency}_count" if engine.latency else engine.ended
    if ended is not None:
        yield _record("model:engine_ended:rate", f"sum by({model})(rate({ended}{window}))", kind)


def _devices(source: PrometheusSource) -> list[Manifest]:
    """Give devices by the pod that holds them, in the first label that exporters may use."""
    by = f"{source.namespace_labels[0]},{source.pod_labels[0]}"
    rules = []
    for metric, whole in BUSY:
        exporter = metric.split("_")[0].lower()
        expression = f"avg by({by})({metric})/{whole:g}"
        rules.append(_record("replica:device_busy:ratio", expression, f"{exporter}-{whole:g}"))
    (used, free), (npu_used, npu_total) = MEMORY
    rules.append(
        _record("replica:device_memory:ratio", f"avg by({by})({used}/({used}+{free}))", "dcgm")
    )
    rules.append(
        _record("replica:device_memory:ratio", f"avg by({by})({npu_used}/{npu_total})", "npu")
    )
    rules.append(_record("replica:device_healthy:ratio", f"avg by({by})({XID}==bool 0)", "dcgm"))
    rules.append(_record("replica:device_healthy:ratio", f"avg by({by})({HEALTHY}>=0)", "npu"))
    return rules


def _record(name: str, expression: str, source: str) -> Manifest:
    return {"record": name, "expr": expression, "labels": {"source": source}}


def _alert(name: str, expression: str, after: str, severity: str, summary: str) -> Manifest:
    return {
        "alert": f"Controlplane{name}",
        "expr": expression,
        "for": after,
        "labels": {"severity": severity},
        "annotations": {"summary": summary},
    }


def _monitor(name: str, namespace: str, spec: Manifest) -> Manifest:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": {"name": name, "namespace": namespace, "labels": _labels()},
        "spec": {"namespaceSelector": {"matchNames": [namespace]}, **spec},
    }


def _labels() -> dict[str, str]:
    return {"app.kubernetes.io/part-of": "controlplane"}
