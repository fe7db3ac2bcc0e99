"""One look at an engine's metrics: of a page of hundreds of lines only those that are needed.

A page is cut at its `# TYPE` lines, and only the families that are asked for are looked into. That
is what makes a hundred pages a second cheap.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, isnan
from typing import NamedTuple

from controlplane.adapters.engines.names import MODEL, Metric, Names

RATIOS = ("kv_usage",)  # from 0 to 1: anything above is in another unit, or broken
FIGURES = (
    "queue", "running", "kv_usage", "received", "finished", "finished_too", "refused", "busy",
    "busy_with_wait", "waited", "served", "asleep",
)  # fmt: skip
SUFFIXES = (
    b"",
    b"_total",
    b"_sum",
    b"_count",
    b"_bucket",
)  # a metric's name: its family's, and one
BUCKET = re.compile(rb'_bucket\{[^\n]*?\ble="([^"\n]*)"[^\n]*\}\s+(\S+)')
Labels = Mapping[str, str]
Families = Mapping[bytes, bytes]  # by name: its lines


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
    families = _families(page)
    figures: dict[str, float] = {}
    bad: dict[str, str] = {}
    for key in FIGURES:
        metrics = getattr(names, key)
        series = _first(families, metrics, served_name, names) if metrics else None
        if series is None:
            continue
        value = _folded(series, ranks=names.ranks, ratio=key in RATIOS)
        if isfinite(value) and value >= 0 and not (key in RATIOS and value > 1.0 + 1e-6):
            figures[key] = value
        else:
            bad[key] = repr(value)
    return Page(figures, bad, _buckets(families, names.wait), _buckets(families, names.latency))


def _families(page: bytes) -> Families:
    """Cut a page into families. What no `# TYPE` line announces is found under the empty name."""
    families: dict[bytes, bytes] = {}
    for chunk in (b"\n" + page).split(b"\n# TYPE "):
        name, _, rest = chunk.partition(b" ")
        families[name] = rest
    families[b""] = page
    return families


class _Series(NamedTuple):
    labels: Labels
    value: float


def _first(
    families: Families, metrics: Sequence[Metric], served_name: str, names: Names
) -> list[_Series] | None:
    """Give the series of the first of these metrics that is exported."""
    for wanted in metrics:
        rules = {
            key: served_name if value is MODEL else value for key, value in wanted.labels.items()
        }
        found = [
            series
            for series in _lines(families, wanted.name, labelled=bool(rules) or names.ranks)
            if all(series.labels.get(key) == value for key, value in rules.items())
        ]
        if found:
            return found
    return None


def _lines(families: Families, name: str, *, labelled: bool) -> Iterator[_Series]:
    """Give each series of a metric; its labels only where they matter."""
    written = name.encode()
    begins = (written + b"{", written + b" ")
    for line in _family(families, written).split(b"\n"):
        if line.startswith(begins):
            yield _series(line[len(written) :], labelled=labelled)


def _family(families: Families, name: bytes) -> bytes:
    """Give the lines among which a metric's are: its family's, else from where it stands first."""
    for suffix in SUFFIXES:
        family = families.get(name.removesuffix(suffix))
        if family is not None and name in family:
            return family
    page = families[b""]
    at = page.find(b"\n" + name)
    if at < 0 and not page.startswith(name):
        return b""
    return page[at + 1 : page.rfind(b"\n" + name) + 4096]


def _series(line: bytes, *, labelled: bool) -> _Series:
    """Read what stands behind a metric's name: labels, value, perhaps a time."""
    labels, closed, rest = line.rpartition(b"}")
    parts = rest.split()
    try:
        value = float(parts[0])
    except (IndexError, ValueError):
        value = float("nan")
    return _Series(_labels(labels[1:]) if closed and labelled else {}, value)


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


def _buckets(families: Families, names: Sequence[str]) -> Buckets | None:
    """Read the first of these histograms that is exported, its series added up."""
    for name in names:
        family = _family(families, f"{name}_bucket".encode())
        upto: dict[float, float] = {}
        for bound, value in BUCKET.findall(family):
            try:
                upto[float(bound)] = upto.get(float(bound), 0.0) + float(value)
            except ValueError:  # a line that is broken is none
                continue
        if upto:
            sums = _lines(families, f"{name}_sum", labelled=False)
            return Buckets(upto, sum(series.value for series in sums))
    return None
