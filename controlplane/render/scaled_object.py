"""The ScaledObject of a variant: KEDA carries out our decision, or decides on a signal itself.

`behavior` says what `cooldownPeriod` is often thought to say; the latter governs the way to zero
alone. When we do not answer, what is there stays: by a `fallback` that takes no replica away, and
where there may be none by no fallback at all, for one of 0 replicas lets KEDA take all away.

That is not enough for as long as we may be away. Two askers of KEDA share a scaler, and whichever
fails forgets it; the other then takes the one that is gone for one that says nobody is there. Once
the cooldown is over, that empties a Deployment. So whoever knows that replicas are wanted says so,
and the least is then one: only where none is wanted may KEDA take the last.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from controlplane.domain import marks
from controlplane.domain.catalogue import Catalogue, Model
from controlplane.domain.handover import TriggerKind
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.render.behavior import deciding, obeying, window_s
from controlplane.render.naming import Manifest, deployment_name, metadata
from controlplane.render.triggers import external, from_prometheus

PAUSED = "autoscaling.keda.sh/paused"
PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas"
TRANSFER = "scaledobject.keda.sh/transfer-hpa-ownership"
LONGEST_NAME = 63
LEAST_COOLDOWN_S = 60  # a restart of ours is over by then
HPA_PREFIX = "keda-hpa-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """What people set: KEDA is to leave the number alone, or to hold it."""

    paused: bool = False
    replicas: int | None = None  # 0 is a number to be held, too (K4)


FREE = Hold()
NONE_KNOWN: Mapping[ClassName, int] = {}


class _How(NamedTuple):
    """What KEDA decides on, what people hold, and how many replicas are wanted now, if known."""

    kind: TriggerKind
    hold: Hold
    wanted: int


def scaled_objects(
    name: ModelName,
    catalogue: Catalogue,
    namespace: str,
    trigger: TriggerKind | None = None,
    hold: Hold = FREE,
    wanted: Mapping[ClassName, int] = NONE_KNOWN,
) -> list[Manifest]:
    """Render the ScaledObjects of a model: one for each of its variants.

    `wanted` is what each variant is to have now; where it is any, KEDA may not take the last.
    """
    kind = trigger or catalogue.keda.trigger
    return [
        _scaled_object(
            name, class_name, catalogue, namespace, _How(kind, hold, wanted.get(class_name, 0))
        )
        for class_name in catalogue.models[name].variants
    ]


def _scaled_object(
    name: ModelName,
    class_name: ClassName,
    catalogue: Catalogue,
    namespace: str,
    how: _How,
) -> Manifest:
    model, keda = catalogue.models[name], catalogue.keda
    kind = how.kind
    deployment = deployment_name(name, model, class_name)
    least, most = bounds(model, kind)
    if how.wanted > 0 and kind != "prometheus":  # a Prometheus does not go away with us
        least = max(1, least)
    spec: Manifest = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": deployment},
        "minReplicaCount": least,
        "maxReplicaCount": most,
        **(_fallback(least, keda.failures) if least else _near_zero(model, kind, keda.polling_s)),
        "advanced": {
            "horizontalPodAutoscalerConfig": {
                "behavior": obeying(most, tolerance=keda.tolerance)
                if kind == "target"
                else deciding(model),
                **_hpa_name(deployment),
            }
        },
        "triggers": from_prometheus(name, catalogue)
        if kind == "prometheus"
        else [external(name, class_name, catalogue, kind, namespace)],
    }
    labels = {marks.MODEL: str(name), marks.CLASS: str(class_name)}
    head = metadata(_short(deployment, LONGEST_NAME), namespace, labels)
    head["annotations"] |= holding(how.hold)
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": head,
        "spec": spec,
    }


def _fallback(least: int, failures: int) -> Manifest:
    """Leave what is there when the source fails."""
    behavior = "currentReplicasIfHigher"
    return {
        "fallback": {"failureThreshold": failures, "replicas": least, "behavior": behavior},
    }


def _near_zero(model: Model, kind: TriggerKind, polling_s: int) -> Manifest:
    """Say what counts on the way to and from zero alone; a decision was held for its window."""
    window = 0 if kind == "target" else round(window_s(model))
    cooldown = max(LEAST_COOLDOWN_S, 2 * polling_s, window)
    return {
        "pollingInterval": polling_s,
        "cooldownPeriod": cooldown,
        "initialCooldownPeriod": cooldown,
    }


def bounds(model: Model, kind: TriggerKind) -> tuple[int, int]:
    """Give the least and the most replicas; under `target` the spares come on top.

    Of several variants each may be empty: how they share is our decision.
    """
    policy, spare = model.policy.scaling, model.policy.spare
    if kind != "target":
        return policy.min, policy.max
    rotating = 1 if spare.count and spare.rotate_s is not None else 0
    least = policy.min + spare.count if len(model.variants) == 1 else 0
    return least, policy.max + spare.count + rotating


def holding(hold: Hold) -> dict[str, str]:
    """Give the annotations of a pause; held at a number wins over paused."""
    if hold.replicas is not None:
        return {PAUSED_REPLICAS: str(hold.replicas)}
    return {PAUSED: "true"} if hold.paused else {}


def _hpa_name(name: str) -> dict[str, str]:
    """Name the HPA where KEDA's own name for it would be too long."""
    if len(HPA_PREFIX + name) <= LONGEST_NAME:
        return {}
    return {"name": f"{HPA_PREFIX}{_short(name, LONGEST_NAME - len(HPA_PREFIX))}"}


def _short(name: str, most: int) -> str:
    """Shorten a name so that no two are alike: KEDA puts it into a label, which ends at 63."""
    if len(name) <= most:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: most - len(mark) - 1].rstrip('-.')}-{mark}"
