"""What no single field can show: rules between fields of a fleet file. Breaking one is a fault.

Each rule is a small generator over the whole catalogue; add one to `RULES` and it is checked.
"""

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import NamedTuple, TypeAlias

from controlplane.domain.catalogue import Catalogue, workload
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import ClassName
from controlplane.render.naming import dns_label
from controlplane.render.scaled_object import scaled_objects
from controlplane.render.triggers import NoTriggerError
from controlplane.settings.document import Path

ANY_CLASS = ClassName("")  # where only what the models are called matters


class Broken(NamedTuple):
    """A rule that does not hold, and where; `value` None means: as the file writes it."""

    path: Path
    rule: str
    value: str | None = None


Rule: TypeAlias = Callable[[Catalogue], Iterator[Broken]]


def bounds_in_order(catalogue: Catalogue) -> Iterator[Broken]:
    """`min` is not above `max` (T5), and the band of utilisation is not upside down."""
    for name, model in catalogue.models.items():
        scaling = model.policy.scaling
        path = ("models", name, "policy", "scaling")
        if scaling.min > scaling.max:
            rule = f"must not be above max, which is {scaling.max}"
            yield Broken((*path, "min"), rule, str(scaling.min))
        floor, ceiling = scaling.utilisation_floor, scaling.utilisation_ceiling
        if floor is not None and ceiling is not None and floor >= ceiling:
            rule = f"must be below utilisation_ceiling, which is {ceiling:g}"
            yield Broken((*path, "utilisation_floor"), rule, f"{floor:g}")


def needs_stated(catalogue: Catalogue) -> Iterator[Broken]:
    """A model says what memory it needs, one way or the other."""
    for name, model in catalogue.models.items():
        need = model.need
        if need.vram_gib is None and need.weights_gib is None and need.kv is None:
            rule = "states no memory: give vram_gib, or weights_gib (and kv, overhead_gib)"
            yield Broken(("models", name, "need"), rule, "")


def references_exist(catalogue: Catalogue) -> Iterator[Broken]:
    """Pools, variants and pairs name what the file has."""
    for index, pool in enumerate(catalogue.pools):
        path: Path = ("pools", index, "node_class")
        yield from _exists(path, pool.node_class, catalogue.node_classes, "node class")
    for name, model in catalogue.models.items():
        for node_class in model.variants:
            path = ("models", name, "variants", node_class)
            yield from _exists(path, node_class, catalogue.node_classes, "node class")
    for index, pair in enumerate(catalogue.pairs):
        yield from _exists(("pairs", index, "model"), pair.model, catalogue.models, "model")


def shares_add_up(catalogue: Catalogue) -> Iterator[Broken]:
    """The guarantees of a model's classes are parts of one whole."""
    for name, model in catalogue.models.items():
        guarantee = model.policy.admission.guarantee
        total = sum(guarantee.values())
        if total > 1 + 1e-9:
            shares = " + ".join(f"{guarantee[p]:g}" for p in PRIORITIES if p in guarantee)
            path = ("models", name, "policy", "admission", "guarantee")
            yield Broken(path, f"must not add up to more than 1, but {shares} = {total:g}", "")


def loads_in_time(catalogue: Catalogue) -> Iterator[Broken]:
    """A replica gets the time it needs to load; else it would be replaced for ever."""
    for name, model in catalogue.models.items():
        limit = model.policy.spare.load_limit_s
        node_class, variant = max(model.variants.items(), key=lambda item: item[1].load_s)
        if limit <= variant.load_s:
            path = ("models", name, "policy", "spare", "load_limit_s")
            rule = f"must be above the load time on {node_class}, which is {variant.load_s:g} s"
            yield Broken(path, rule, f"{limit:g}")


def pairs_once(catalogue: Catalogue) -> Iterator[Broken]:
    """A pair of model and runtime has one verdict."""
    seen: dict[tuple[str, str, str], int] = {}
    for index, pair in enumerate(catalogue.pairs):
        key = (pair.model, pair.runtime.kind, pair.runtime.version)
        if key in seen:
            rule = f"{pair.model} with {pair.runtime.kind} {pair.runtime.version} is "
            yield Broken(("pairs", index), f"{rule}listed already, as pairs[{seen[key]}]", "")
        seen.setdefault(key, index)


def workloads_once(catalogue: Catalogue) -> Iterator[Broken]:
    """Two variants never mean the same Deployment (T3): each target has one writer (law 6)."""
    seen: dict[str, str] = {}
    for name, model in catalogue.models.items():
        for node_class, variant in model.variants.items():
            called = variant.deployment or workload(name, node_class)
            here = f"models.{name}.variants.{node_class}"
            if called in seen:
                rule = f"would be the Deployment {called}, as is {seen[called]}"
                yield Broken(("models", name, "variants", node_class), rule, node_class)
            seen.setdefault(called, here)


def services_once(catalogue: Catalogue) -> Iterator[Broken]:
    """Two models never mean the same Service: a caller of one would reach the other."""
    seen: dict[str, str] = {}
    for name in catalogue.models:
        called = dns_label(name)
        first = seen.setdefault(called, name)
        if first != name and workload(first, ANY_CLASS) != workload(name, ANY_CLASS):
            rule = f"would be the Service {called}, as is models.{first}; name it otherwise"
            yield Broken(("models", name), rule, "")


def writer_can_write(catalogue: Catalogue) -> Iterator[Broken]:
    """Whoever is to write the number can: with these triggers, between these bounds."""
    for name, model in catalogue.models.items():
        scaling, path = model.policy.scaling, ("models", name, "policy", "scaling")
        if scaling.writer == "hpa" and scaling.min == 0:
            rule = "must be at least 1 where an HPA writes the number: it never goes to zero"
            yield Broken((*path, "min"), rule, "0")
        if scaling.writer == "keda":
            try:
                scaled_objects(name, catalogue, namespace="")
            except NoTriggerError as error:
                yield Broken((*path, "writer"), f"cannot be keda: {error}", "keda")


def names_are_free(catalogue: Catalogue) -> Iterator[Broken]:
    """No model is called what people say for the whole fleet."""
    for name in catalogue.models:
        if name.lower() == "all":
            yield Broken(
                ("models", name), "is what the whole fleet is called; name it otherwise", ""
            )


def currency_is_a_code(catalogue: Catalogue) -> Iterator[Broken]:
    """The currency is an ISO 4217 code."""
    code = catalogue.currency
    if not (code.isascii() and code.isalpha() and code.isupper()):
        yield Broken(("currency",), "must be an ISO 4217 code such as USD or CNY")


RULES: tuple[Rule, ...] = (
    bounds_in_order,
    needs_stated,
    references_exist,
    shares_add_up,
    loads_in_time,
    pairs_once,
    workloads_once,
    services_once,
    writer_can_write,
    names_are_free,
    currency_is_a_code,
)


def incoherences(catalogue: Catalogue) -> list[Broken]:
    """Give every rule between fields that the catalogue breaks."""
    return [broken for rule in RULES for broken in rule(catalogue)]


def _exists(path: Path, name: str, known: Iterable[str], what: str) -> Iterator[Broken]:
    names = list(known)
    if name in names:
        return
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
    yield Broken(path, f"is no {what} of this file; {hint}", name)
