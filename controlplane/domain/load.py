"""The load of a model: all its samples in one cycle."""

from collections.abc import Mapping

import msgspec

from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.samples import NOT_YET, Absence, NoData, Sample

NOT_TOLD = NoData(Absence.NOT_EXPORTED)  # only exporters of devices know


class ClassLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What one priority class of a model brings and feels."""

    queue: Sample = NOT_YET  # requests waiting now
    arrivals: Sample = NOT_YET  # per second over the last cycle, the rejected included
    arrivals_steady: Sample = NOT_YET  # per second over the policy's `steady_s`
    turned_away: Sample = NOT_YET  # per second, refused for want of capacity (429/503)
    wait_p99: Sample = NOT_YET  # seconds, arrival to slot
    latency_p99: Sample = NOT_YET  # seconds, arrival to last byte


class ModelLoad(msgspec.Struct, frozen=True, kw_only=True):
    """All samples of one model in one cycle."""

    model: ModelName
    at: Instant
    classes: Mapping[Priority, ClassLoad]
    in_flight: Sample = NOT_YET  # busy slots now
    service_s: Sample = NOT_YET  # mean seconds a request holds its slot(s), measured
    kv_usage: Sample = NOT_YET  # 0..1, mean over replicas
    vram: Sample = NOT_YET  # 0..1, mean over devices; only for engines that do not preallocate
    utilisation: Sample = NOT_YET  # 0..1, mean over devices in service
    device_health: Sample = NOT_TOLD  # 0..1, mean share of devices in service that are well
    unclassed: bool = False  # who told the queue knows no classes: it stands in one of them
    notes: tuple[str, ...] = ()  # what to know of these samples, e.g. which replica did not answer


def silent(model: ModelName, at: Instant) -> ModelLoad:
    """A load of which nothing is known."""
    return ModelLoad(model=model, at=at, classes={p: ClassLoad() for p in PRIORITIES})
