"""Which node classes a model fits, with every reason for and against each of them.

Three questions a class: was the image built for what the class runs, is the exact pair of model and
runtime denied, and how many devices hold the need. A class that fits is still said to be waste when
a smaller, cheaper one would hold the model too.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache

import msgspec

from controlplane.domain.catalogue import Catalogue, Model, NodeClass, Runtime, Variant
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.domain.versions import RuntimeVersion

_ROUNDING = 1e-9  # GiB; 0.9 x 80 is not 72 in floats

version = lru_cache(maxsize=1024)(RuntimeVersion)


class Remark(msgspec.Struct, frozen=True):
    """One reason for or against a class."""

    code: ReasonCode
    evidence: tuple[Evidence, ...] = ()


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one class: what a replica would hold and cost there, or why it cannot."""

    node_class: ClassName
    fits: bool
    devices: int | None = None  # of one replica, on one node
    hourly_cost: Decimal | None = None  # of one replica
    reasons: tuple[Remark, ...]


def match(model_name: ModelName, model: Model, catalogue: Catalogue) -> tuple[Match, ...]:
    """Judge every node class: those that fit first, cheapest first; then the others by name."""
    verdicts = [
        _verdict(model_name, model, name, catalogue) for name in sorted(catalogue.node_classes)
    ]
    fitting = [verdict for verdict in verdicts if verdict.fits]
    fitting.sort(key=lambda verdict: (verdict.hourly_cost, verdict.devices, verdict.node_class))
    return (*fitting, *(verdict for verdict in verdicts if not verdict.fits))


def preferred(matches: Sequence[Match]) -> Match | None:
    """Give the cheapest class that suffices, if any does."""
    return matches[0] if matches and matches[0].fits else None


def smallest_degree(model: Model, node_class: NodeClass, on_one_node: int | None) -> int | None:
    """Give the fewest devices that hold the model, of the numbers allowed and there."""
    usable = node_class.vram_gib * node_class.usable
    for degree in sorted(model.tensor_parallel):
        if on_one_node is not None and degree > on_one_node:
            return None
        if model.need.gib <= degree * usable + _ROUNDING:
            return degree
    return None


def devices_on_one_node(node_class: ClassName, catalogue: Catalogue) -> int | None:
    """Give the devices of the class's biggest node; None when no pool of it is known."""
    pools = [pool for pool in catalogue.pools if pool.node_class == node_class]
    if not pools:
        return None
    return max((pool.devices_per_node for pool in pools if pool.nodes), default=0)


def _verdict(model_name: ModelName, model: Model, name: ClassName, catalogue: Catalogue) -> Match:
    variant = model.variants.get(name)
    if variant is None:
        remark = Remark(ReasonCode.NO_VARIANT, (Evidence("node_class", name),))
        return Match(node_class=name, fits=False, reasons=(remark,))
    node_class = catalogue.node_classes[name]
    pairs = tuple(_pair_remarks(model_name, variant, catalogue))
    against = _refusals(variant, node_class, pairs)
    on_one_node = devices_on_one_node(name, catalogue)
    degree = smallest_degree(model, node_class, on_one_node)
    if degree is None:
        against.append(_too_small(model, name, node_class, on_one_node))
    if against or degree is None:
        return Match(node_class=name, fits=False, reasons=tuple(against))
    waste = _waste(model_name, model, name, degree, catalogue)
    return Match(
        node_class=name,
        fits=True,
        devices=degree,
        hourly_cost=node_class.price_per_hour * degree,
        reasons=(_fits(model, node_class, degree), *pairs, *waste),
    )


def _refusals(variant: Variant, node_class: NodeClass, pairs: Sequence[Remark]) -> list[Remark]:
    return [
        *_runtime_faults(variant.runtime, node_class.runtime),
        *(remark for remark in pairs if remark.code is ReasonCode.PAIR_DENIED),
    ]


def _runtime_faults(built: Runtime, runs: Runtime) -> Iterator[Remark]:
    evidence = (
        Evidence("built", f"{built.kind.upper()} {built.version}"),
        Evidence("supported", f"{runs.kind.upper()} {runs.version}"),
    )
    if built.kind != runs.kind:
        yield Remark(ReasonCode.RUNTIME_DIFFERS, evidence)
    elif version(built.version) > version(runs.version):
        yield Remark(ReasonCode.RUNTIME_TOO_NEW, evidence)


def _pair_remarks(
    model_name: ModelName, variant: Variant, catalogue: Catalogue
) -> Iterator[Remark]:
    """Say what is listed about this model with the runtime inside the variant's image."""
    built = variant.runtime
    for pair in catalogue.pairs:
        if pair.model != model_name or pair.runtime.kind != built.kind:
            continue
        if version(pair.runtime.version) != version(built.version):
            continue
        evidence = [Evidence("runtime", f"{built.kind.upper()} {built.version}")]
        if pair.reason:
            evidence.append(Evidence("reason", pair.reason))
        denied = pair.verdict == "denied"
        code = ReasonCode.PAIR_DENIED if denied else ReasonCode.PAIR_TESTED
        yield Remark(code, tuple(evidence))


def _fits(model: Model, node_class: NodeClass, degree: int) -> Remark:
    usable = degree * node_class.vram_gib * node_class.usable
    return Remark(
        ReasonCode.FITS,
        (
            Evidence("need", _gib(model.need.gib), _gib(usable), "GiB"),
            Evidence("devices", degree),
            Evidence("device", _gib(node_class.vram_gib), None, "GiB"),
        ),
    )


def _too_small(
    model: Model, name: ClassName, node_class: NodeClass, on_one_node: int | None
) -> Remark:
    """Say that memory is short, or, where no allowed number of devices is on one node, those."""
    allowed = sorted(model.tensor_parallel)
    there = [n for n in allowed if on_one_node is None or n <= on_one_node]
    if not there:
        return Remark(
            ReasonCode.NO_DEVICES,
            (
                Evidence("node_class", name),
                Evidence("devices", allowed[0], on_one_node, "on one node"),
            ),
        )
    usable = there[-1] * node_class.vram_gib * node_class.usable
    return Remark(
        ReasonCode.TOO_SMALL,
        (
            Evidence("need", _gib(model.need.gib), _gib(usable), "GiB"),
            Evidence("devices", there[-1]),
            Evidence("device", _gib(node_class.vram_gib), None, "GiB"),
        ),
    )


def _waste(
    model_name: ModelName, model: Model, name: ClassName, degree: int, catalogue: Catalogue
) -> Iterator[Remark]:
    """Name the cheapest class that would hold the model with less memory and for less money.

    That no image was built for it yet is no excuse, it is the thing to do next; that an image was
    refused there is one.
    """
    mine = catalogue.node_classes[name]
    held = degree * mine.vram_gib
    cost = degree * mine.price_per_hour
    smaller: list[tuple[Decimal, ClassName]] = []
    for other_name, other in catalogue.node_classes.items():
        variant = model.variants.get(other_name)
        if variant is not None:
            pairs = tuple(_pair_remarks(model_name, variant, catalogue))
            if _refusals(variant, other, pairs):
                continue
        other_degree = smallest_degree(model, other, devices_on_one_node(other_name, catalogue))
        if other_degree is None:
            continue
        other_cost = other_degree * other.price_per_hour
        if other_degree * other.vram_gib < held and other_cost < cost:
            smaller.append((other_cost, other_name))
    if smaller:
        yield Remark(
            ReasonCode.BIGGER_THAN_NEEDED,
            (
                Evidence("need", _gib(model.need.gib), _gib(held * mine.usable), "GiB"),
                Evidence("stranded", _gib(held * mine.usable - model.need.gib), None, "GiB"),
                Evidence("sufficient", min(smaller)[1]),
            ),
        )


def _gib(amount: float) -> float:
    return round(amount, 3)
