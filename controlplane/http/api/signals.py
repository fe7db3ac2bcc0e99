"""Routes: where the signals of a model come from."""

from collections.abc import Iterable
from typing import Any

import msgspec

from controlplane.http.api.route import Call, Route
from controlplane.http.problems import missing
from controlplane.ports.sources import SignalRead

ONE_SOURCE = "one source tells everything: none is passed over"


class SignalSources(msgspec.Struct, frozen=True, kw_only=True):
    """Every signal of a model with its source, and what the sources had to say besides."""

    model: str
    signals: tuple[SignalRead, ...]
    notes: tuple[str, ...] = ()


async def _signals(call: Call) -> SignalSources:
    name, reads = call.part("name"), call.state.signals
    if name not in call.state.in_force.catalogue.models:
        raise missing("model", name)
    if reads is None:  # one source tells everything, and there is nothing to choose
        return SignalSources(model=name, signals=(), notes=(ONE_SOURCE,))
    found = reads.sources(name)
    if found is None:
        raise missing("model", name)
    return SignalSources(model=name, signals=tuple(found), notes=tuple(reads.notes))


def _table(found: SignalSources) -> Iterable[dict[str, Any]]:
    for each in found.signals:
        yield {
            "signal": each.signal,
            "source": each.source,
            "value": each.value,
            "why": each.why,
            "age_s": each.age_s,
            "query": each.query,
            "passed_over": "; ".join(f"{over.source}: {over.why}" for over in each.passed_over),
        }


ROUTES = (
    Route(
        method="GET",
        path="/models/{name}/signals",
        summary="Each signal of a model: its source, its age, and why others were passed over.",
        run=_signals,
        answer=SignalSources,
        tag="models",
        table=_table,
    ),
)
