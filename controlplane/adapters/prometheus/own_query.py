"""A query of people's own that gave no number: what came back, and a query that would work.

A query is only said to work after it was asked and gave one series. What stands in a selector is
compared with what the server has: the name of the metric first, then each label, then its value.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from controlplane.adapters.prometheus.client import Answer, Prometheus, QueryError, Series
from controlplane.domain.sources import SignalName
from controlplane.render.corrections import summed_by_le
from controlplane.render.promql import quoted

FOLDS: Final[dict[SignalName, str]] = {  # how several series of a signal are one; else the worst
    "queue": "sum",
    "in_flight": "sum",
    "arrivals": "sum",
    "turned_away": "sum",
    "kv_usage": "avg",
    "vram": "avg",
    "utilisation": "avg",
    "device_health": "avg",
    "service_s": "avg",
}
SHOWN: Final = 3  # series, labels or values that a sentence names
SAMPLED: Final = 50  # series of a metric that are looked at for their labels
KEYWORDS: Final = frozenset(
    {"and", "or", "unless", "by", "without", "on", "ignoring", "group_left", "group_right"}
    | {"offset", "bool", "start", "end", "inf", "nan"}
    | {"sum", "min", "max", "avg", "group", "stddev", "stdvar", "count", "count_values"}
    | {"bottomk", "topk", "quantile"}
)
_STRING = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|`[^`]*`')
_BESIDE = re.compile(
    r"\{[^{}]*\}|\[[^\]]*\]"
    r"|\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^()]*\)"
)
_METRIC = re.compile(r"(?<![\w:.])([a-zA-Z_:][\w:]*)(?!\s*\()(?![\w:])")
_SELECTOR = re.compile(r"(?<![\w:.])([a-zA-Z_:][\w:]*)\s*\{((?:[^{}\"]|\"(?:\\.|[^\"\\])*\")*)\}")
_MATCHER = re.compile(r'([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*"((?:\\.|[^"\\])*)"')


class Matcher(NamedTuple):
    """One condition of a selector, and where it stands in the query."""

    metric: str
    label: str
    how: str
    value: str
    at: slice


def metrics_in(query: str) -> tuple[str, ...]:
    """Name the metrics of a query; functions, labels and keywords are none."""
    plain = _BESIDE.sub(" ", _STRING.sub('""', query))
    names = (found[1] for found in _METRIC.finditer(plain))
    return tuple(dict.fromkeys(name for name in names if name.lower() not in KEYWORDS))


def matchers_in(query: str) -> Iterator[Matcher]:
    """Give the conditions of a query's selectors, in their order."""
    for selector in _SELECTOR.finditer(query):
        for found in _MATCHER.finditer(query, *selector.span(2)):
            yield Matcher(selector[1], found[1], found[2], found[3], slice(*found.span()))


def several(answer: Answer, query: str, signal: SignalName) -> str:
    """Say that a query gave several series, which, and how it would give one."""
    shown = "; ".join(_named(series) for series in answer.series[:SHOWN])
    more = len(answer.series) - SHOWN
    also = f" and {more} more" if more > 0 else ""
    gives = summed_by_le(query)
    if gives == query:
        gives = f"{FOLDS.get(signal, 'max')}({query})"
    return f"{query} gave {len(answer.series)} series ({shown}{also}); {gives} gives one"


async def nothing(client: Prometheus, query: str) -> str:
    """Say that a query gave no series, why, and which would; the server is asked what it has."""
    try:
        why = await _wrong_metric(client, query) or await _wrong_label(client, query)
    except QueryError:
        why = ""
    return f"{query} gave no series{why}"


async def _wrong_metric(client: Prometheus, query: str) -> str:
    names = await client.names()
    for metric in metrics_in(query) if names else ():
        if metric not in names:
            instead = [
                re.sub(rf"(?<![\w:.]){re.escape(metric)}(?![\w:])", close, query)
                for close in get_close_matches(metric, names, n=SHOWN, cutoff=0.6)
            ]
            return f": no metric is called {metric}{await _would(client, instead)}"
    return ""


async def _wrong_label(client: Prometheus, query: str) -> str:
    for one in matchers_in(query):
        if one.metric in KEYWORDS or one.how not in {"=", "=~"} or not one.value:
            continue
        some = await client.instant(f"topk({SAMPLED},{one.metric})")
        labels = sorted({label for series in some.series for label in series.labels})
        if not labels:
            continue
        if one.label not in labels:
            close = get_close_matches(one.label, labels, n=SHOWN, cutoff=0.6)
            instead = [_put(query, one, label=label) for label in close]
            told = f": no {one.metric} has a label {one.label}, but {_listed(labels)}"
            return f"{told}{await _would(client, instead)}"
        had = await client.instant(f"count by({one.label})({one.metric})")
        values = sorted(filter(None, (each.labels.get(one.label) for each in had.series)))
        if one.how == "=" and one.value not in values:
            close = get_close_matches(one.value, values, n=SHOWN, cutoff=0.6)
            instead = [_put(query, one, value=value) for value in close]
            told = f": no {one.metric} has {one.label}={quoted(one.value)}, but {_listed(values)}"
            return f"{told}{await _would(client, instead)}"
    return ""


async def _would(client: Prometheus, instead: Sequence[str]) -> str:
    """Give the first of these queries that really gives one series."""
    for query in instead:
        if len((await client.instant(query)).series) == 1:
            return f"; {query} would"
    return ""


def _put(query: str, one: Matcher, *, label: str = "", value: str | None = None) -> str:
    said = one.value if value is None else quoted(value)[1:-1]
    return f'{query[: one.at.start]}{label or one.label}{one.how}"{said}"{query[one.at.stop :]}'


def _listed(names: Sequence[str]) -> str:
    """Name the first of many."""
    more = "" if len(names) <= SHOWN else f" and {len(names) - SHOWN} more"
    return f"{', '.join(names[:SHOWN])}{more}"


def _named(series: Series) -> str:
    pairs = sorted(series.labels.items())[:3]
    return ", ".join(f"{key}={quoted(value)}" for key, value in pairs) or "no labels"
