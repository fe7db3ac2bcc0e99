"""Every route answers, and answers what its documentation says (JSON Schema 2020-12)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from controlplane.http.api.route import Route
from controlplane.http.api.table import ROUTES, openapi
from controlplane.http.state import State
from tests.http.conftest import Client, Opened

DOCUMENT: dict[str, Any] = json.loads(openapi())
QUERIES = {
    "/catalogue/diff": {"older": "1", "newer": "1"},
    "/overrides/{subject}/preview": {"verb": "pin", "replicas": "3"},
}
PARTS = {"name": "chat", "subject": "chat", "id": "1", "version": "1"}
READS = [route for route in ROUTES if route.method == "GET" and route.answer is not None]
OPEN_TO_OPERATORS = [route for route in READS if route.path != "/tokens"]
A_RUN = {"scenario": "seed-000", "policy": "controlplane"}


def address(route: Route, suffix: str = "") -> str:
    return route.address.format(**PARTS) + suffix


def check(value: Any, schema: dict[str, Any]) -> None:
    whole = {**schema, "components": DOCUMENT["components"]}
    Draft202012Validator(whole).validate(value)


@pytest.mark.parametrize("route", OPEN_TO_OPERATORS, ids=lambda route: route.path)
async def test_a_read_answers_what_is_documented(client: Client, route: Route) -> None:
    await client.post("/api/v1/runs", json=A_RUN)
    response = await client.get(address(route), params=QUERIES.get(route.path, {}))

    assert response.status == 200, await response.text()
    operation = DOCUMENT["paths"][route.address]["get"]
    content = operation["responses"]["200"]["content"]
    assert response.content_type in content
    if response.content_type == "application/json":
        check(await response.json(), content["application/json"]["schema"])


@pytest.mark.parametrize("route", [r for r in OPEN_TO_OPERATORS if r.table], ids=lambda r: r.path)
async def test_every_list_has_a_csv_twin(client: Client, route: Route) -> None:
    await client.post("/api/v1/runs", json=A_RUN)
    query = QUERIES.get(route.path, {})
    by_address = await client.get(address(route, ".csv"), params=query)
    by_query = await client.get(address(route), params={**query, "format": "csv"})
    by_header = await client.get(address(route), params=query, headers={"Accept": "text/csv"})

    texts = [await response.text() for response in (by_address, by_query, by_header)]
    assert by_address.content_type == by_query.content_type == by_header.content_type == "text/csv"
    assert texts[0].split("\r\n")[0] == texts[1].split("\r\n")[0] == texts[2].split("\r\n")[0]


async def test_every_route_is_documented_and_every_documented_route_exists(client: Client) -> None:
    assert client.app is not None
    served = {
        (route.method, route.resource.canonical)
        for route in client.app.router.routes()
        if route.resource is not None
        and route.resource.canonical.startswith("/api/")
        and route.method != "HEAD"
    }
    documented = {
        (method.upper(), path)
        for path, operations in DOCUMENT["paths"].items()
        for method in operations
    }

    assert documented == served


def test_the_document_names_each_operation_once() -> None:
    names = [o["operationId"] for p in DOCUMENT["paths"].values() for o in p.values()]

    assert len(names) == len(set(names))
    assert DOCUMENT["openapi"] == "3.1.0"


def test_every_change_is_audited_and_needs_more_than_a_viewer() -> None:
    changes = [route for route in ROUTES if route.method != "GET"]

    assert [r.path for r in changes if r.audit is None] == [
        "/catalogue/validate"
    ]  # changes nothing
    assert all(route.role > 1 for route in changes)


async def test_what_is_not_known_is_null_and_says_why(client: Client) -> None:
    rows = await (await client.get("/api/v1/models")).json()

    small = next(row for row in rows if row["name"] == "small")
    assert small["drain"]["value"] is None
    assert small["drain"]["why"] == "NotYet"
    assert small["target"] is None
    assert small["lanes"]["serving"] == 0  # seen, and none there


async def test_before_the_first_look_nothing_is_zero(opened: Opened, state: State) -> None:
    state.history.view = None
    client = await opened(state)

    fleet = await (await client.get("/api/v1/fleet")).json()

    assert fleet["inventory"] == "NotYet"
    assert fleet["sums"]["devices"] is None
    assert fleet["sums"]["micros_per_hour"] is None
    assert fleet["models"][0]["lanes"] is None
    assert fleet["top"]["data_at"] is None


def test_every_route_stands_in_the_documentation_for_people_too() -> None:
    text = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    told = re.findall(r"^\| (\w+) \| `(\S+)` \| (\w+) \| (\w*) ?\| (.*) \|$", text, re.MULTILINE)

    assert told == [
        (r.method, r.address, str(r.role), "yes" if r.table else "", r.summary) for r in ROUTES
    ]
