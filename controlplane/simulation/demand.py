"""Load for a fleet nobody drives: real traces, in a loop, scaled to what each model can serve.

The embedded cluster must live by itself, with any fleet file. So every model's classes replay one
of the shipped traces, each beginning elsewhere, at such a factor that the mean work is
`MEAN_SHARE` of what the model's maximum would serve: enough to move, not enough to drown.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from controlplane.decide.scaling.variants import variants
from controlplane.domain.catalogue import Catalogue, Model
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import ModelName
from controlplane.simulation.arrivals import Arrivals
from controlplane.simulation.library import TRACES
from controlplane.simulation.replay import Replay
from controlplane.simulation.service_times import Lognormal, ServiceTime
from controlplane.simulation.streams import Stream, StreamTraffic
from controlplane.simulation.traces import RequestTrace, read_trace

MEAN_SHARE = 0.25  # of the slots at a model's maximum


class Source(NamedTuple):
    """A trace and the stretch of it that repeats."""

    file: str
    loop_s: float


CONVERSATIONS = Source("azure-2023-conv.csv.gz", 3_480.0)  # smooth
CODE = Source("azure-2023-code.csv.gz", 3_420.0)  # bursty: the peak minute has four times the mean

# Which trace each class replays, and its part of the work. Work that can wait comes in masses.
CHAT = {
    Priority.HIGH: (CONVERSATIONS, 0.5),
    Priority.MEDIUM: (CONVERSATIONS, 0.2),
    Priority.LOW: (CODE, 0.3),
}
BURSTY = {
    Priority.HIGH: (CONVERSATIONS, 0.3),
    Priority.MEDIUM: (CODE, 0.5),
    Priority.LOW: (CODE, 0.2),
}
SPREAD: Mapping[str, float] = {"chat": 1.0, "image": 0.4, "vision": 0.2}  # of service times


def demand(catalogue: Catalogue, seed: int) -> dict[ModelName, StreamTraffic]:
    """Give endless traffic for every model that fits somewhere."""
    table = variants(catalogue)
    traces = {source.file: read_trace(TRACES / source.file) for source in _sources()}
    traffic = {}
    for turn, (name, model) in enumerate(catalogue.models.items()):
        facts = table.facts[name]
        if not facts:
            continue
        slots = MEAN_SHARE * model.policy.scaling.max * facts[0].slots
        work = slots / facts[0].service_s  # requests per second
        streams = dict(_streams(model, work, facts[0].service_s, traces, turn))
        traffic[name] = StreamTraffic(name, streams, traces, seed)
    return traffic


def _streams(
    model: Model, rate: float, service_s: float, traces: Mapping[str, RequestTrace], turn: int
) -> Iterator[tuple[str, Stream]]:
    mix = CHAT if model.kind == "chat" else BURSTY
    promised = [p for p in PRIORITIES if p in model.policy.objectives] or [Priority.HIGH]
    whole = sum(mix[priority][1] for priority in promised)
    service = ServiceTime(lognormal=Lognormal(mean_s=service_s, cv=SPREAD.get(model.kind, 0.5)))
    for priority in promised:
        source, part = mix[priority]
        trace = traces[source.file]
        # Each begins elsewhere in the trace, so that not all of them peak at once.
        start_s = ((turn * 0.137 + priority.rank * 0.31) % 1.0) * source.loop_s * 0.5
        kept = int(((trace.at >= start_s) & (trace.at < start_s + source.loop_s / 2)).sum())
        factor = rate * part / whole / (kept / (source.loop_s / 2))
        replay = Replay(file=source.file, factor=factor, start_s=start_s, loop_s=source.loop_s / 2)
        yield (
            priority.value,
            Stream(
                priority=priority,
                arrivals=Arrivals(trace=replay),
                service=service,
            ),
        )


def _sources() -> set[Source]:
    return {source for mix in (CHAT, BURSTY) for source, _ in mix.values()}
