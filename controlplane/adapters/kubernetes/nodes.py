"""The inventory: nodes with accelerators, by class; those of no class with what they say.

A class recognises a node by all its label patterns and by its resource. A class without labels
takes what counts its resource, as long as no other class does and the card's memory agrees.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from controlplane.adapters.kubernetes.cards import (
    Offer,
    naming_label,
    offers,
    product,
    shares,
    telling_labels,
)
from controlplane.adapters.kubernetes.node_shape import Machine, Taint
from controlplane.domain.catalogue import Catalogue, NodeClass
from controlplane.domain.fleet import Node, UnknownNode
from controlplane.domain.quantities import ClassName, NodeName, Zone
from controlplane.render.placing import USUAL_TAINTS

ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
NO_ZONE = Zone("none")  # a cluster that knows no zones is one
AGREES = 0.12  # a T4 of 16 GiB says 14.8 with its error correction on

_REPELS = ("NoSchedule", "NoExecute")
_TROUBLE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")  # `ready` says it
_CORDON = "node.kubernetes.io/unschedulable"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """The devices of one class on a machine."""

    node: Node
    resource: str
    shared: int  # times each device is advertised


class Found(msgspec.Struct, frozen=True):
    """What one machine brings."""

    parts: tuple[Part, ...] = ()
    unknown: tuple[UnknownNode, ...] = ()


class _Verdict(msgspec.Struct, frozen=True):
    node_class: ClassName | None
    said: str = ""  # why there is none, or what is odd about it


def look(machine: Machine, catalogue: Catalogue) -> Found:
    """Say what a machine brings to the fleet; nothing, if it has no accelerators."""
    there = offers(machine, {size.resource for size in catalogue.node_classes.values()})
    if not there:
        return _without_devices(machine, catalogue)
    parts: list[Part] = []
    unknown: list[UnknownNode] = []
    for offer in there:
        verdict = _verdict(machine, offer, catalogue)
        name = _name(machine, offer, first=offer is there[0])
        if verdict.node_class is None:
            unknown.append(_unknown(machine, name, offer.devices, verdict.said))
        else:
            parts.append(_part(machine, name, offer, verdict, catalogue))
    return Found(tuple(parts), tuple(unknown))


def zone_of(machine: Machine) -> Zone:
    """Give a node's zone."""
    return next((Zone(machine.labels[key]) for key in ZONES if machine.labels.get(key)), NO_ZONE)


def recognises(size: NodeClass, labels: Mapping[str, str]) -> bool:
    """Say whether all of a class's label patterns match."""
    return all(
        key in labels and _pattern(written).fullmatch(labels[key]) is not None
        for key, written in size.labels.items()
    )


def tolerated(size: NodeClass, taint: Taint) -> bool:
    """Say whether a taint keeps no replica of the class off."""
    if taint.effect not in _REPELS or taint.key in (*_TROUBLE, _CORDON):
        return True
    usual = (size.resource, *USUAL_TAINTS.get(size.vendor, ()), *size.taints)
    return taint.key in usual or taint.key.startswith(size.resource.partition("/")[0] + "/")


@lru_cache(maxsize=1024)
def _pattern(written: str) -> re.Pattern[str]:
    return re.compile(written)


def _name(machine: Machine, offer: Offer, *, first: bool) -> NodeName:
    """Name the devices of one kind; a machine whose cards are cut differently is several nodes."""
    if first:
        return NodeName(machine.name)
    return NodeName(f"{machine.name}/{offer.resource.rpartition('/')[2]}")


def _verdict(machine: Machine, offer: Offer, catalogue: Catalogue) -> _Verdict:
    counting = {n: s for n, s in catalogue.node_classes.items() if s.resource == offer.resource}
    by_label = [n for n, s in counting.items() if s.labels and recognises(s, machine.labels)]
    if by_label:
        return _by_label(offer, by_label, counting)
    plain = [name for name, size in counting.items() if not size.labels]
    agreeing = [name for name in plain if _agrees(offer, counting[name]) is not False]
    if len(agreeing) == 1:
        return _Verdict(agreeing[0])
    if agreeing:
        names = " and ".join(agreeing)
        return _Verdict(
            None, f"{names} all count {offer.resource} and have no labels that tell them apart"
        )
    if plain:
        return _Verdict(None, _size_said(offer, plain[0], counting[plain[0]]))
    return _Verdict(None, _missing(machine, offer, catalogue))


def _by_label(
    offer: Offer, names: list[ClassName], counting: Mapping[ClassName, NodeClass]
) -> _Verdict:
    """Take the class that says most and whose memory agrees; say what is odd about it."""
    best = max(
        names, key=lambda n: (_agrees(offer, counting[n]) is not False, len(counting[n].labels))
    )
    if _agrees(offer, counting[best]) is not False:
        rivals = [n for n in names if n != best and _agrees(offer, counting[n]) is not False]
        same = [n for n in rivals if len(counting[n].labels) == len(counting[best].labels)]
        return _Verdict(best, f"its labels also match {', '.join(same)}" if same else "")
    said = _size_said(offer, best, counting[best])
    if "-MIG-" in offer.product:  # a slice is no odd label: a model would not find its memory
        return _Verdict(None, f"{said}; it is a slice and needs a class of its own")
    return _Verdict(best, said)


def _size_said(offer: Offer, name: ClassName, size: NodeClass) -> str:
    return (
        f"its labels say {offer.memory_gib or 0:.3g} GiB a device, "
        f"class {name} says {size.vram_gib:.3g}"
    )


def _agrees(offer: Offer, size: NodeClass) -> bool | None:
    """Compare memory with tolerance; None where the node does not say."""
    if offer.memory_gib is None:
        return None
    return abs(offer.memory_gib - size.vram_gib) <= AGREES * size.vram_gib


def _missing(machine: Machine, offer: Offer, catalogue: Catalogue) -> str:
    """Say what to put into the catalogue."""
    label = naming_label(machine)
    by = f"labels: {{{label[0]}: {label[1]}}}" if label else "a label that names its nodes"
    alike = [
        name
        for name, size in catalogue.node_classes.items()
        if size.resource == offer.resource and _agrees(offer, size) and _alike(name, offer.product)
    ]
    if alike:
        return f"no class matches its labels; it looks like {alike[0]}: give that class {by}"
    labelled = [
        f"{name} matches its labels but counts {size.resource}"
        for name, size in catalogue.node_classes.items()
        if size.labels and recognises(size, machine.labels)
    ]
    why = labelled[0] if labelled else "no class matches it"
    memory = f"vram_gib: {offer.memory_gib:.3g}" if offer.memory_gib else "its vram_gib"
    return f"{why}; add one with resource: {offer.resource}, {memory} and {by}"


def _alike(name: str, card: str) -> bool:
    """Say whether a class's name speaks of this card: A100-80G of nvidia-a100-80gb."""
    words = re.findall(r"[a-z]*\d+[a-z0-9]*", name.lower())
    return bool(words) and words[0] in card.lower()


def _without_devices(machine: Machine, catalogue: Catalogue) -> Found:
    """Show a machine that is labelled as having accelerators and offers none."""
    for name, size in catalogue.node_classes.items():
        if size.labels and recognises(size, machine.labels):
            empty = Offer(resource=size.resource, devices=0, total=0)
            part = _part(machine, NodeName(machine.name), empty, _Verdict(name), catalogue)
            return Found((part,))
    card, parts = product(machine), shares(machine)
    if not (card or parts):
        return Found()
    why = f"it is labelled {card} and offers no accelerator: does its device plugin run?"
    if parts:
        why = f"it offers {' and '.join(parts)}, parts of cards; a class counts whole ones"
    return Found((), (_unknown(machine, NodeName(machine.name), 0, why),))


def _part(
    machine: Machine, name: NodeName, offer: Offer, verdict: _Verdict, catalogue: Catalogue
) -> Part:
    node_class = verdict.node_class or ClassName("")
    size = catalogue.node_classes[node_class]
    repelling = [taint for taint in machine.taints if not tolerated(size, taint)]
    notes = [verdict.said, *(_taint_said(taint) for taint in repelling)]
    if offer.devices < offer.total:
        notes.append(f"{offer.total - offer.devices} of {offer.total} devices are unhealthy")
    if not offer.total:
        others = ", ".join(sorted(name for name, count in machine.capacity.items() if count))
        notes.append(f"it offers no {size.resource}" + (f" but {others}" if others else ""))
    if offer.shared > 1:
        notes.append(
            f"each device is advertised {offer.shared} times; memory is not kept apart, "
            "so that each counts once"
        )
    if machine.leaving:
        notes.append("it is being deleted")
    return Part(
        node=Node(
            name=name,
            node_class=node_class,
            zone=zone_of(machine),
            devices=offer.devices,
            ready=machine.ready,
            schedulable=not (machine.cordoned or machine.leaving or repelling),
            note="; ".join(note for note in notes if note),
        ),
        resource=offer.resource,
        shared=offer.shared,
    )


def _taint_said(taint: Taint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"taint {taint.key}{value}:{taint.effect} keeps replicas off"


def _unknown(machine: Machine, name: NodeName, devices: int, why: str) -> UnknownNode:
    return UnknownNode(
        name=name,
        zone=zone_of(machine),
        devices=devices,
        labels=telling_labels(machine),
        why=why,
    )
