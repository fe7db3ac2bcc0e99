"""What is accepted, but probably not what was meant. Each caution names field, value and why."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from controlplane.decide.breakers.ejections import ejection_s, flaps
from controlplane.decide.placement.matching import match
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.reasons import ReasonCode
from controlplane.render.sentences import clause
from controlplane.settings.coherence import Broken

SETTLING_S = 30.0  # after it has loaded, a replica needs a moment before its effect is seen

_MEANT = (ReasonCode.PAIR_DENIED, ReasonCode.NO_VARIANT)

Caution: TypeAlias = Callable[[Catalogue], Iterator[Broken]]


def holds_too_short(catalogue: Catalogue) -> Iterator[Broken]:
    """A window shorter than what a new replica needs makes the fleet flap (T10)."""
    for name, model in catalogue.models.items():
        scaling = model.policy.scaling
        if scaling.stabilisation_s is None:
            continue
        held = max(scaling.stabilisation_s, scaling.cooldown_s)
        load_s = max(variant.load_s for variant in model.variants.values())
        if held < load_s + SETTLING_S:
            rule = (
                f"is shorter than the measured load time of {load_s:g} s + {SETTLING_S:g} s: "
                "replicas may be given up before they helped"
            )
            path = ("models", name, "policy", "scaling", "stabilisation_s")
            yield Broken(path, rule, f"{held:g}")


def never_fits(catalogue: Catalogue) -> Iterator[Broken]:
    """A variant no node of its class can ever run; a denied pair is meant, and no surprise."""
    for name, model in catalogue.models.items():
        verdicts = match(name, model, catalogue)
        if not any(verdict.fits for verdict in verdicts):
            yield Broken(("models", name), "fits no node class, and will never be served", "")
        for verdict in verdicts:
            against = [] if verdict.fits else [r for r in verdict.reasons if r.code not in _MEANT]
            if against:
                why = "; ".join(clause(remark.code, remark.evidence) for remark in against)
                path = ("models", name, "variants", verdict.node_class)
                plain = why.replace("\u00a0", " ")  # pages keep figure and unit together
                yield Broken(path, f"can never run here: {plain}", "")


def reserve_takes_all(catalogue: Catalogue) -> Iterator[Broken]:
    """Where every slot is kept from low, low lives on minimum service alone."""
    for name, model in catalogue.models.items():
        reserve = model.policy.admission.reserve
        class_name, variant = min(model.variants.items(), key=lambda item: item[1].slots)
        if model.policy.admission.limits == "scaled" and reserve >= variant.slots:
            rule = (
                f"keeps all {variant.slots} slots of a replica on {class_name} from low, "
                "which then gets minimum service only"
            )
            yield Broken(("models", name, "policy", "admission", "reserve"), rule, str(reserve))


def promises_out_of_reach(catalogue: Catalogue) -> Iterator[Broken]:
    """A latency below the service time cannot be kept by any number of replicas."""
    for name, model in catalogue.models.items():
        class_name, variant = min(model.variants.items(), key=lambda item: item[1].service_s)
        for priority, objective in model.policy.objectives.items():
            latency = objective.latency_p99_s
            if latency is not None and latency < variant.service_s:
                rule = f"is below the mean service time on {class_name}, {variant.service_s:g} s"
                path = ("models", name, "policy", "objectives", priority.value, "latency_p99_s")
                yield Broken(path, f"{rule}: no number of replicas can keep it", f"{latency:g}")


def ejections_flap(catalogue: Catalogue) -> Iterator[Broken]:
    """A replica that is let in again before it can have recovered fails again, and so on."""
    for name, model in catalogue.models.items():
        breaker = model.policy.breaker
        load_s = max(variant.load_s for variant in model.variants.values())
        if flaps(breaker, load_s):
            rule = (
                f"is shorter than the measured load time of {load_s:g} s: a replica that restarts "
                "is let in before it can answer, and ejected again"
            )
            path = ("models", name, "policy", "breaker", "ejection_s")
            yield Broken(path, rule, f"{ejection_s(breaker, load_s):g}")


CAUTIONS: tuple[Caution, ...] = (
    holds_too_short,
    never_fits,
    reserve_takes_all,
    promises_out_of_reach,
    ejections_flap,
)


def cautions(catalogue: Catalogue) -> list[Broken]:
    """Give everything about a coherent catalogue that deserves a second look."""
    return [broken for caution in CAUTIONS for broken in caution(catalogue)]
