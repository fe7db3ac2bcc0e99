"""One look at an engine's metrics: of a page of hundreds of lines only those that are needed.

A metric's lines are found with a search for its name; nothing else of the page is looked at. That
is what makes a hundred pages a second cheap.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, isfinite, isnan
from typing import NamedTuple

from controlplane.adapters.engines.names import MODEL, Metric, Names

RATIOS = ("kv_usage",)  # from 0 to 1: anything above is in another unit, or broken
FIGURES = (
    "queue", "running", "kv_usage", "received", "finished", "finished_too", "refused", "busy",
    "busy_with_wait", "waited", "served", "asleep",
)  # fmt: skip
NUMBER = b"{ "  # what may follow a metric's name
Labels = Mapping[str, str]


class Buckets(NamedTuple):
    """A histogram since the engine's start: how many were at most each bound."""

    upto: dict[float, float]
    sum: float


class Page(NamedTuple):
    """What an engine said at one moment. A figure that is neither known nor bad is not exported."""

    figures: Mapping[str, float]
    bad: Mapping[str, str]
    wait: Buckets | None
    latency: Buckets | None


def read(page: bytes, names: Names, served_name: str) -> Page:
    """Take from a page what an engine of this kind is asked for."""
    text = b"\n" + page
    figures: dict[str, float] = {}
    bad: dict[str, str] = {}
    for key in FIGURES:
        series = _first(text, getattr(names, key), served_name)
        if series is None:
            continue
        value = _folded(series, ranks=names.ranks, ratio=key in RATIOS)
        if isfinite(value) and value >= 0 and not (key in RATIOS and value > 1.0 + 1e-6):
            figures[key] = value
        else:
            bad[key] = repr(value)
    return Page(figures, bad, _buckets(text, names.wait), _buckets(text, names.latency))


class _Series(NamedTuple):
    labels: Labels
    value: float


def _first(text: bytes, metrics: Sequence[Metric], served_name: str) -> list[_Series] | None:
    """Give the series of the first of these metrics that is exported."""
    for wanted in metrics:
        fits = _matching(wanted, served_name)
        found = [
            _Series(labels, value) for labels, value in _lines(text, wanted.name) if fits(labels)
        ]
        if found:
            return found
    return None


def _matching(wanted: Metric, served_name: str) -> Callable[[Labels], bool]:
    if not wanted.labels:
        return lambda _: True
    rules = {key: served_name if value is MODEL else value for key, value in wanted.labels.items()}
    return lambda labels: all(labels.get(key) == value for key, value in rules.items())


def _lines(text: bytes, name: str) -> Iterator[tuple[Labels, float]]:
    """Give labels and value of each line of a metric."""
    start = b"\n" + name.encode()
    at = text.find(start)
    while at >= 0:
        begin, end = at + len(start), text.find(b"\n", at + 1)
        line = text[begin : len(text) if end < 0 else end]
        if line[:1] in (b"{", b" "):
            yield _line(line)
        at = -1 if end < 0 else text.find(start, end)


def _line(line: bytes) -> tuple[Labels, float]:
    """Read what stands behind a metric's name: labels, value, perhaps a time."""
    labels, closed, rest = line.rpartition(b"}")
    parts = rest.split()
    try:
        value = float(parts[0])
    except (IndexError, ValueError):
        value = float("nan")
    return _labels(labels[1:]) if closed else {}, value


def _labels(written: bytes) -> Labels:
    """Read `key="value",…`; a comma or an escaped quote inside a value does no harm."""
    found: dict[str, str] = {}
    for part in written.decode("utf-8", "replace").split('",'):
        key, _, value = part.partition('="')
        found[key.strip(", ")] = value.removesuffix('"')
    return found


def _folded(series: Sequence[_Series], *, ranks: bool, ratio: bool) -> float:
    """Make one figure of an engine's series: data-parallel ones add up, a ratio is their mean."""
    if any(isnan(one.value) for one in series):
        return float("nan")
    groups: dict[str, list[float]] = {}
    for number, one in enumerate(series):
        group = one.labels.get("dp_rank", "0") if ranks else str(number)
        groups.setdefault(group, []).append(one.value)
    highest = [max(values) for values in groups.values()]
    return sum(highest) / len(highest) if ratio else sum(highest)


def _buckets(text: bytes, names: Sequence[str]) -> Buckets | None:
    """Read the first of these histograms that is exported, its series added up."""
    for name in names:
        upto: dict[float, float] = {}
        for labels, value in _lines(text, f"{name}_bucket"):
            bound = _bound(labels.get("le", ""))
            if isfinite(value) and bound is not None:
                upto[bound] = upto.get(bound, 0.0) + value
        if upto:
            return Buckets(upto, sum(value for _, value in _lines(text, f"{name}_sum")))
    return None


def _bound(written: str) -> float | None:
    try:
        return inf if written == "+Inf" else float(written)
    except ValueError:
        return None
