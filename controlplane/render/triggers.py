"""KEDA's triggers: over our external scaler, or over a Prometheus for those who leave us out.

What the metadata holds is text: the CRD refuses bare numbers. An average or a percentile is not
shared among the replicas, so its `metricType` is Value; with the default, AverageValue, 90 % at
four replicas would mean 22 % each and take replicas away. `ignoreNullValues` is false: by default a
broken exporter reads as 0.
"""

from controlplane.domain.catalogue import Catalogue, Model
from controlplane.domain.handover import ScalerMetric
from controlplane.domain.policies import ScalingPolicy
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.domain.sources import PrometheusSource
from controlplane.render.engine_metrics import BUSY, ENGINES, MEMORY, PARALLEL
from controlplane.render.naming import Manifest, deployment_name
from controlplane.render.promql import quoted

SEED_DEPTH = 5.0  # of seed-000, where a policy sets no depth of its own
MILLI = 1000  # drain time is given in ms, the worst wait in thousandths of its objective
QUERY_TIMEOUT_MS = 3000
VALUE, AVERAGE = "Value", "AverageValue"


class NoTriggerError(ValueError):
    """What was asked for cannot be a trigger of this model; the text is one sentence."""


def external(
    name: ModelName,
    class_name: ClassName,
    catalogue: Catalogue,
    metric: ScalerMetric,
    namespace: str,
) -> Manifest:
    """Ask our external scaler."""
    model, keda = catalogue.models[name], catalogue.keda
    if metric != "target" and len(model.variants) > 1:
        raise NoTriggerError(
            f"models.{name}.variants: {len(model.variants)} classes and the trigger {metric}: no "
            "signal says which class is to grow; use the trigger target, which does"
        )
    metadata = {
        "scalerAddress": scaler_address(keda.scaler_address, namespace),
        "model": str(name),
        "class": str(class_name),
        "metric": metric,
    }
    if keda.tls:
        metadata["enableTLS"] = "true"
    trigger: Manifest = {
        "type": "external",
        "name": metric.replace("_", "-"),
        "metricType": AVERAGE if metric in {"target", "weighted_depth"} else VALUE,
        "metadata": metadata,
    }
    if keda.authentication is not None:
        trigger["authenticationRef"] = {"name": keda.authentication}
    return trigger


def scaler_address(written: str, namespace: str) -> str:
    """Give the address as KEDA, in a namespace of its own, can resolve it."""
    host, _, port = written.rpartition(":")
    return written if "." in host or ":" in host else f"{host}.{namespace}:{port}"


def target_size(metric: ScalerMetric, policy: ScalingPolicy) -> int:
    """Give what one replica, or the fleet, should be at; a whole number and above 0 (KEDA)."""
    if metric == "target":
        return 1
    if metric == "weighted_depth":
        depth = SEED_DEPTH if policy.depth_target is None else policy.depth_target
        return max(1, round(depth))
    if metric == "drain":
        return max(1, round(MILLI * (policy.drain_limit_s or 30.0)))
    return MILLI


def from_prometheus(name: ModelName, catalogue: Catalogue) -> list[Manifest]:
    """Ask a Prometheus: one trigger for every rule of the policy that a query can state."""
    model = catalogue.models[name]
    source = catalogue.signals.prometheus
    if source is None:
        raise NoTriggerError(
            "signals.prometheus: is not set: a prometheus trigger needs its address"
        )
    made = [
        *_depth(name, model, source),
        *_latency(name, model, source),
        *_memory(name, model, source),
        *_busy(name, model, source),
    ]
    if not made:
        raise NoTriggerError(
            f"models.{name}.policy.scaling: no rule that a query could state: set depth_target, "
            "watermark, utilisation_alone or an objective's latency_p99_s"
        )
    return made


def query_trigger(
    name: str, query: str, threshold: float, source: PrometheusSource, metric_type: str
) -> Manifest:
    """Ask one query, which gives exactly one series."""
    return {
        "type": "prometheus",
        "name": name,
        "metricType": metric_type,
        "metadata": {
            "serverAddress": source.address,
            "query": query,
            "threshold": f"{threshold:g}",
            "ignoreNullValues": "false",
            "timeout": str(QUERY_TIMEOUT_MS),
        },
    }


def _series(metric: str, name: ModelName, source: PrometheusSource) -> str:
    base, _, inside = metric.partition("{")
    matchers = [f"{source.model_label}={quoted(name)}", *filter(None, [inside.rstrip("}")])]
    matchers += [f"{key}={quoted(value)}" for key, value in sorted(source.only.items())]
    return f"{base}{{{','.join(matchers)}}}"


def _depth(name: ModelName, model: Model, source: PrometheusSource) -> list[Manifest]:
    target, engine = model.policy.scaling.depth_target, ENGINES[model.serving.engine]
    if target is None or not engine.waiting:
        return []
    waiting = f"sum({_series(engine.waiting[0], name, source)})"
    if engine.fold == "max":  # ranks that share a request say the same
        of = f"{source.pod_labels[-1]},{PARALLEL}"
        waiting = f"sum(max by({of})({_series(engine.waiting[0], name, source)}))"
    return [query_trigger("queue", waiting, target, source, AVERAGE)]


def _latency(name: ModelName, model: Model, source: PrometheusSource) -> list[Manifest]:
    engine = ENGINES[model.serving.engine]
    limits = [o.latency_p99_s for o in model.policy.objectives.values() if o.latency_p99_s]
    if not model.policy.scaling.p99 or not limits or engine.latency is None:
        return []
    buckets = _series(f"{engine.latency}_bucket", name, source)
    rate = f"rate({buckets}[{source.window_s}s])"
    # The percentile of no requests is NaN. Where the count says that there were none, it is 0;
    # where there is no count either, nothing is known, and nothing is given.
    idle = f"sum(rate({_series(f'{engine.latency}_count', name, source)}[{source.window_s}s]))==0"
    query = f"histogram_quantile(0.99,sum by(le)({rate}))>=0 or {idle}"
    return [query_trigger("latency-p99", query, min(limits), source, VALUE)]


def _memory(name: ModelName, model: Model, source: PrometheusSource) -> list[Manifest]:
    watermark, engine = model.policy.scaling.watermark, ENGINES[model.serving.engine]
    if watermark is None:
        return []
    if engine.kv_usage:
        gauges = " or ".join(_series(each, name, source) for each in engine.kv_usage)
        return [query_trigger("kv-cache", f"avg({gauges})", watermark, source, VALUE)]
    used, free = (_of_devices(each, name, model, source) for each in MEMORY[0])
    share = f"avg({used}/({used}+{free}))"
    return [query_trigger("vram", share, watermark, source, VALUE)]


def _busy(name: ModelName, model: Model, source: PrometheusSource) -> list[Manifest]:
    policy = model.policy.scaling
    if not policy.utilisation_alone or policy.utilisation_ceiling is None:
        return []
    metric, whole = BUSY[0]
    query = f"avg({_of_devices(metric, name, model, source)})"
    ceiling = policy.utilisation_ceiling * whole
    return [query_trigger("utilisation", query, ceiling, source, VALUE)]


def _of_devices(metric: str, name: ModelName, model: Model, source: PrometheusSource) -> str:
    """Select a model's devices: exporters know pods, not models.

    A pod is called as its Deployment and two words more, which no other model's pods are.
    """
    only = [f"{key}={quoted(value)}" for key, value in sorted(source.only.items())]
    names = "|".join(deployment_name(name, model, each) for each in model.variants)
    pattern = f"({names})-[^-]+-[^-]+".replace(".", r"\.")
    pods = f"{source.pod_labels[0]}=~{quoted(pattern)}"
    return f"{metric}{{{','.join([pods, *only])}}}"
