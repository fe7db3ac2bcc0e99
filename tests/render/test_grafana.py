"""The dashboard of deploy/grafana: it is what is rendered, it holds together, it names our metrics.

Write it anew: CONTROLPLANE_GOLDEN=write pytest tests/render/test_grafana.py
"""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

from controlplane.gateway.breakers import Breakers
from controlplane.gateway.counts import Counts
from controlplane.gateway.exposed import GatewayMetrics
from controlplane.render.grafana import dashboard
from controlplane.render.grafana.panels import COLUMNS, queries
from controlplane.telemetry.metrics import Metrics
from tests.render.handover.golden import check_text

FILE = Path(__file__).parents[2] / "deploy" / "grafana" / "controlplane.json"
BOARD = dashboard()
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
SUFFIXES = re.compile(r"_(total|bucket|sum|count)$")
WANTED = (
    "Depth", "Wait P50 and P99", "Latency P50 and P99", "Admitted", "Rejected by reason",
    "Aged, minimum service, evicted", "In flight", "Time in Redis", "Replicas by lane",
    "Target and serving", "Cost per hour by model", "Breakers",
)  # fmt: skip


def test_the_file_is_what_is_rendered() -> None:
    check_text(FILE, json.dumps(BOARD, indent=2, ensure_ascii=False) + "\n")


def test_what_is_asked_for_has_a_panel() -> None:
    assert set(WANTED) <= {panel["title"] for panel in PANELS}


def test_panels_stay_within_the_page_and_clear_of_one_another() -> None:
    def cells(panel: dict[str, Any]) -> set[tuple[int, int]]:
        at = panel["gridPos"]
        return {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}

    assert all(x < COLUMNS for panel in BOARD["panels"] for x, _ in cells(panel))
    assert [
        (one["title"], other["title"])
        for one, other in combinations(BOARD["panels"], 2)
        if cells(one) & cells(other)
    ] == []
    ids = [panel["id"] for panel in BOARD["panels"]]
    assert len(set(ids)) == len(ids)


def test_every_query_asks_the_chosen_prometheus_and_every_variable_is_there() -> None:
    known = {variable["name"] for variable in BOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?([a-z_]+)", json.dumps(PANELS))) - {"__rate_interval"}

    assert used == known
    asked = [target["datasource"]["uid"] for panel in PANELS for target in panel["targets"]]
    assert set(asked) == {"${datasource}"}


def test_every_panel_says_what_it_shows() -> None:
    assert [panel["title"] for panel in PANELS if not panel["description"].endswith(".")] == []


def test_queries_name_only_metrics_that_there_are() -> None:
    gateway = GatewayMetrics(Counts(), Breakers(lambda _: None), lambda: ["chat"])
    there = {family.name for source in (Metrics().registry, gateway) for family in source.collect()}
    named = {name for _, expr in queries(BOARD) for name in re.findall(r"controlplane_\w+", expr)}

    assert named
    assert {name for name in named if SUFFIXES.sub("", name) not in there} == set()
