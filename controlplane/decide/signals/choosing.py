"""Signal by signal, the first source with a fresh answer wins; who was passed over says why.

A percentile of no requests is an answer: the source was asked, and nothing happened. A source that
leaves classes out knows the total and not its parts; there the others count as none of it. A
gateway that sees nothing of a model whose engines are busy is not in its way, and its zeros mean
nothing.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from controlplane.domain.load import ClassLoad, ModelLoad
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.samples import IDLE, NOT_YET, Absence, NoData, Sample, Zero, fresh
from controlplane.domain.sources import SignalName, SignalsPolicy, SourceName

BY_CLASS: tuple[SignalName, ...] = ("queue", "arrivals", "turned_away", "wait_p99", "latency_p99")
OF_MODEL: tuple[SignalName, ...] = (
    "in_flight",
    "service_s",
    "kv_usage",
    "vram",
    "utilisation",
    "device_health",
)
FIELDS = {"arrivals": ("arrivals", "arrivals_steady")}  # of one signal
BYPASSED = NoData(Absence.EMPTY, "no request comes through it, and yet the engines are busy")
PERCENTILES = ("wait_p99", "latency_p99")


class PassedOver(NamedTuple):
    """A source that was asked first, and what it had to say for itself."""

    source: SourceName
    sample: Sample


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """Where a signal came from in the end; `source` is empty where nobody knew."""

    signal: SignalName
    source: str
    sample: Sample  # of the class that says most, for a signal by class
    passed_over: tuple[PassedOver, ...] = ()


class Sourced(NamedTuple):
    """A load put together, and where each of its signals came from."""

    load: ModelLoad
    chosen: tuple[Chosen, ...]


def answers(sample: Sample) -> bool:
    """Say whether the source knows."""
    return sample.x is not None or (isinstance(sample, NoData) and sample.why is Absence.IDLE)


def choose(
    model: ModelName,
    loads: Mapping[SourceName, ModelLoad],
    policy: SignalsPolicy,
    at: Instant,
) -> Sourced:
    """Put a model's load together from what its sources say."""
    aged = {source: _aged(load, at, policy.fresh_s) for source, load in loads.items()}
    if _bypassed(aged):
        aged["gateway"] = _of_no_use(aged["gateway"])
    classes: dict[Priority, dict[str, Sample]] = {p: {} for p in PRIORITIES}
    whole: dict[str, Sample] = {}
    chosen: list[Chosen] = []
    unclassed = False
    for signal in (*BY_CLASS, *OF_MODEL):
        order = [source for source in policy.order_of(signal) if source in aged]
        winner, over = _winner(signal, order, aged)
        sample = _spoken(signal, aged[winner]) if winner else _first(over)
        chosen.append(
            Chosen(signal=signal, source=winner or "", sample=sample, passed_over=tuple(over))
        )
        if signal == "queue" and winner:
            unclassed = len(aged[winner].classes) == 1
        if signal in OF_MODEL:
            whole[signal] = sample
        else:
            for field in FIELDS.get(signal, (signal,)):
                for priority in PRIORITIES:
                    told = aged[winner].classes if winner else {}
                    classes[priority][field] = _of_class(field, priority, told, sample)
    load = ModelLoad(
        model=model,
        at=at,
        unclassed=unclassed,
        classes={priority: ClassLoad(**fields) for priority, fields in classes.items()},
        notes=tuple(note for source in aged for note in aged[source].notes),
        **whole,
    )
    return Sourced(load, tuple(chosen))


def _bypassed(loads: Mapping[SourceName, ModelLoad]) -> bool:
    """Say whether a model's requests do not come through the gateway."""
    gateway = loads.get("gateway")
    if gateway is None or gateway.in_flight.x or not _sees_nothing(gateway):
        return False
    return any(load.in_flight.x for source, load in loads.items() if source != "gateway")


def _sees_nothing(load: ModelLoad) -> bool:
    """Say whether it knows that nothing came; what is unknown is no zero."""
    told = [
        sample.x
        for of in load.classes.values()
        for sample in (of.queue, of.arrivals, of.arrivals_steady)
    ]
    return bool(told) and all(x == 0 for x in told)


def _of_no_use(load: ModelLoad) -> ModelLoad:
    fields = ClassLoad.__struct_fields__
    return msgspec.structs.replace(
        load,
        classes={p: ClassLoad(**dict.fromkeys(fields, BYPASSED)) for p in load.classes},
        **dict.fromkeys(OF_MODEL, BYPASSED),
    )


def _winner(
    signal: SignalName, order: Sequence[SourceName], loads: Mapping[SourceName, ModelLoad]
) -> tuple[SourceName | None, list[PassedOver]]:
    over: list[PassedOver] = []
    for source in order:
        samples = _samples(signal, loads[source])
        if samples and all(answers(sample) for sample in samples):
            return source, over
        missing = [sample for sample in samples if not answers(sample)]
        over.append(PassedOver(source, missing[0] if missing else NOT_YET))
    return None, over


def _samples(signal: SignalName, load: ModelLoad) -> list[Sample]:
    if signal in OF_MODEL:
        return [getattr(load, signal)]
    return [getattr(of_class, signal) for of_class in load.classes.values()]


def _spoken(signal: SignalName, load: ModelLoad) -> Sample:
    """Give the sample to be shown: of the classes, the one with the largest number."""
    return max(_samples(signal, load), key=lambda sample: -1.0 if sample.x is None else sample.x)


def _first(over: Sequence[PassedOver]) -> Sample:
    """Give why nobody knew: what the first source said that was asked at all."""
    return next((each.sample for each in over if each.sample != NOT_YET), NOT_YET)


def _of_class(
    field: str, priority: Priority, told: Mapping[Priority, ClassLoad], spoken: Sample
) -> Sample:
    if priority in told:
        found: Sample = getattr(told[priority], field)
        return found
    if not told:
        return spoken
    if field in PERCENTILES:
        return IDLE
    at = next((s.at for of in told.values() if (s := getattr(of, field)).x is not None), None)
    return spoken if at is None else Zero(at)


def _aged(load: ModelLoad, at: Instant, limit_s: float) -> ModelLoad:
    """Make stale what is older than the limit."""

    def aged(of: ClassLoad) -> ClassLoad:
        return ClassLoad(**{f: fresh(getattr(of, f), at, limit_s) for f in of.__struct_fields__})

    return msgspec.structs.replace(
        load,
        classes={priority: aged(of) for priority, of in load.classes.items()},
        **{name: fresh(getattr(load, name), at, limit_s) for name in OF_MODEL},
    )
