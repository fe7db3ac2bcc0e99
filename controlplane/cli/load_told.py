"""A load's report in words for people."""

from collections.abc import Iterator, Mapping
from textwrap import fill
from typing import Any

HEAD = (
    f"{'':11}{'class':<8}{'sent':>7}{'served':>8}{'refused':>9}{'in time':>9}"
    f"{'wait p50':>11}{'p99':>10}{'max':>10}{'latency p50':>13}{'p99':>10}{'max':>10}"
)
LATE_S = 0.02  # beyond it this machine's own lateness is worth a word
COLUMNS = 100


def told(report: Mapping[str, Any]) -> str:
    """Word it."""
    over = " (interrupted)" if report["interrupted"] else ""
    what = (
        f"{report['scenario']}, seed {report['seed']}, {report['seconds']:g} s{over}: "
        f"{100 * report['share']:.3g} % of its requests, calendar {report['squeeze']:g} x as fast"
    )
    lines = [what, "", HEAD]
    for name, run in report["runs"].items():
        lines += _rows(name, run["classes"])
        if name in report["expected"]:
            lines += _expected(report["expected"][name])
    lines += [line for name, run in report["runs"].items() for line in _reasons(name, run)]
    lag = max((run["lag_p99_s"] or 0.0 for run in report["runs"].values()), default=0.0)
    if lag > LATE_S:
        busy = "this machine was busy, and that is in every figure above."
        lines += ["", f"1 of 100 requests left {_s(lag)} late or later: {busy}"]
    for sentence in report["compared"]:
        lines += ["", fill(sentence, COLUMNS)]
    return "\n".join(lines)


def _rows(name: str, classes: Mapping[str, Any]) -> Iterator[str]:
    for priority, of in classes.items():
        if not of["sent"]:
            continue
        times = [of[f"{kind}_{q}_s"] for kind in ("wait", "latency") for q in ("p50", "p99", "max")]
        yield (
            f"{name:<11}{priority:<8}{of['sent']:>7}{of['served']:>8}"
            f"{sum(of['refused'].values()):>9}{_percent(of['in_time_ratio']):>9}"
            f"{_s(times[0]):>11}{_s(times[1]):>10}{_s(times[2]):>10}"
            f"{_s(times[3]):>13}{_s(times[4]):>10}{_s(times[5]):>10}"
        )
        name = ""


def _expected(classes: Mapping[str, Any]) -> Iterator[str]:
    """Word what virtual time makes of the same load."""
    name = " simulated"
    for priority, of in classes.items():
        if not of["arrived"]:
            continue
        yield (
            f"{name:<11}{priority:<8}{of['arrived']:>7}{of['served']:>8}{of['rejected']:>9}"
            f"{_percent(of['in_time_ratio']):>9}"
            f"{_s(of['wait_p50_s']):>11}{_s(of['wait_p99_s']):>10}{_s(of['wait_max_s']):>10}"
            f"{_s(of['latency_p50_s']):>13}{_s(of['latency_p99_s']):>10}{'–':>10}"
        )
        name = ""


def _reasons(name: str, run: Mapping[str, Any]) -> Iterator[str]:
    """Say why requests were not served, where some were not."""
    for priority, of in run["classes"].items():
        parts = [f"{count} {why}" for why, count in {**of["refused"], **of["broken"]}.items()]
        if of["unfinished"]:
            parts.append(f"{of['unfinished']} unfinished")
        if parts:
            yield f"{name}, {priority}: {', '.join(parts)}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _s(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
