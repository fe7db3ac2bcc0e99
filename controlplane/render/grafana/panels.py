"""Panels of Grafana's classic dashboard model: what is the same of all of them stands here once."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

Plain: TypeAlias = dict[str, Any]

SOURCE: Plain = {"type": "prometheus", "uid": "${datasource}"}
COLUMNS, STAT_HEIGHT, HEIGHT = 24, 4, 8
REFS = "ABCDEFGH"


class Query(NamedTuple):
    """What Prometheus is asked, and how its series are called."""

    expr: str
    legend: str


class Panel(NamedTuple):
    """One panel before it has its place."""

    title: str
    about: str
    queries: Sequence[Query]
    unit: str = "short"
    kind: str = "timeseries"
    width: int = 12
    stacked: bool = False
    mappings: Sequence[Plain] = ()


def rows(sections: Sequence[tuple[str, Sequence[Panel]]]) -> list[Plain]:
    """Lay sections out, one below the other, panels from left to right."""
    placed: list[Plain] = []
    top = 0
    for title, panels in sections:
        placed.append(_row(len(placed) + 1, title, top))
        top += 1
        x, deepest = 0, 0
        for panel in panels:
            height = STAT_HEIGHT if panel.kind == "stat" else HEIGHT
            if x + panel.width > COLUMNS:
                top, x, deepest = top + deepest, 0, 0
            at = {"h": height, "w": panel.width, "x": x, "y": top}
            placed.append(_panel(len(placed) + 1, panel, at))
            x, deepest = x + panel.width, max(deepest, height)
        top += deepest
    return placed


def queries(board: Plain) -> Iterator[tuple[str, str]]:
    """Give every query of a dashboard with its panel's title."""
    for panel in board["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


def named(value: int, text: str, color: str) -> Plain:
    """Show a number as a word."""
    said = {"text": text, "color": color, "index": value}
    return {"type": "value", "options": {str(value): said}}


def _row(number: int, title: str, y: int) -> Plain:
    at = {"h": 1, "w": COLUMNS, "x": 0, "y": y}
    return {
        "id": number,
        "type": "row",
        "title": title,
        "gridPos": at,
        "collapsed": False,
        "panels": [],
    }


def _panel(number: int, panel: Panel, at: Plain) -> Plain:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": SOURCE,
        "gridPos": at,
        "targets": [
            {
                "refId": ref,
                "datasource": SOURCE,
                "expr": query.expr,
                "legendFormat": query.legend,
                "editorMode": "code",
                "range": panel.kind != "stat",
                "instant": panel.kind == "stat",
            }
            for ref, query in zip(REFS, panel.queries, strict=False)
        ],
        "fieldConfig": {"defaults": _defaults(panel), "overrides": []},
        "options": _options(panel.kind),
    }


def _defaults(panel: Panel) -> Plain:
    """Give how values are shown; a figure that is not known is a gap, not a line across it."""
    shown: Plain = {"unit": panel.unit, "mappings": list(panel.mappings)}
    if panel.kind == "timeseries":
        shown["min"] = 0
        shown["color"] = {"mode": "palette-classic"}
        shown["custom"] = {
            "drawStyle": "line",
            "lineWidth": 1,
            "fillOpacity": 30 if panel.stacked else 0,
            "showPoints": "never",
            "spanNulls": False,
            "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
        }
    elif panel.kind == "state-timeline":
        shown["color"] = {"mode": "thresholds"}
        shown["custom"] = {"lineWidth": 0, "fillOpacity": 80}
    return shown


def _options(kind: str) -> Plain:
    if kind == "stat":
        return {
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            "colorMode": "none",
            "graphMode": "none",
            "justifyMode": "auto",
            "orientation": "auto",
            "textMode": "auto",
        }
    legend = {
        "displayMode": "list",
        "placement": "bottom",
        "showLegend": kind == "timeseries",
        "calcs": [],
    }
    shared: Plain = {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}}
    if kind == "state-timeline":
        shared |= {"showValue": "auto", "mergeValues": True, "rowHeight": 0.8}
    return shared
