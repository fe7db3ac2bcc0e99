"""Metrics as text, in the format Prometheus reads; names are written exactly as they are given."""

from collections.abc import Iterable, Mapping
from math import isinf
from typing import Literal, NamedTuple

from controlplane.emulation.book import Histogram

Labels = Mapping[str, str]
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Series(NamedTuple):
    """One line: a suffix of the family's name, labels, and a number."""

    suffix: str
    labels: Labels
    value: float


class Family(NamedTuple):
    """A metric with all its series."""

    name: str
    kind: Literal["gauge", "counter", "histogram"]
    help: str
    series: tuple[Series, ...]


def gauge(name: str, help_: str, value: float, labels: Labels) -> Family:
    """Give a gauge of one series."""
    return Family(name, "gauge", help_, (Series("", labels, value),))


def counter(name: str, help_: str, value: float, labels: Labels) -> Family:
    """Give a counter of one series; the name has its `_total` where the engine writes it."""
    return Family(name, "counter", help_, (Series("", labels, value),))


def histogram(name: str, help_: str, seen: Histogram, labels: Labels) -> Family:
    """Give a histogram."""
    series = [
        Series("_bucket", {**labels, "le": "+Inf" if isinf(bound) else repr(float(bound))}, count)
        for bound, count in seen.cumulative()
    ]
    series += [Series("_count", labels, seen.count), Series("_sum", labels, seen.sum)]
    return Family(name, "histogram", help_, tuple(series))


def text(families: Iterable[Family], *, hide: str = "", all_nan: bool = False) -> str:
    """Write the families down; `all_nan` makes every gauge NaN."""
    lines: list[str] = []
    for family in families:
        if hide and hide in family.name:
            continue
        lines += (f"# HELP {family.name} {family.help}", f"# TYPE {family.name} {family.kind}")
        for suffix, labels, value in family.series:
            number = "NaN" if all_nan and family.kind == "gauge" else repr(float(value))
            lines.append(f"{family.name}{suffix}{_braces(labels)} {number}")
    return "\n".join([*lines, ""])


def _braces(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{key}="{_escaped(labels[key])}"' for key in sorted(labels)) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
