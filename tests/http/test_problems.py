"""What goes wrong is said honestly: field, value and rule, and nothing of the inside."""

from io import BytesIO
from typing import Any

import pytest
from structlog.testing import capture_logs

from controlplane.http.state import State
from controlplane.ports import UnavailableError
from tests.http.conftest import Client, Opened

API = "/api/v1"


@pytest.mark.parametrize(
    ("address", "field", "value", "rule"),
    [
        ("/decisions?limit=0", "limit", "0", "must be int >= 1"),
        ("/decisions?limit=many", "limit", "many", "must be int"),
        (
            "/decisions?code=Nonsense",
            "code",
            "Nonsense",
            "is refused: invalid enum value 'Nonsense'",
        ),
        (
            "/decisions?since=yesterday",
            "since",
            "yesterday",
            "must be ISO 8601 or seconds since 1970",
        ),
        ("/decisions?since=5&until=5", "since", "5", "must be before until (5)"),
        ("/decisions?colour=red", "colour", "red", "is none of before, code, limit, loop, model"),
        ("/decisions/abc", "id", "abc", "must be a whole number"),
        ("/models?limit=-1", "limit", "-1", "must be int >= 1"),
        ("/models/chat/series?minutes=0", "minutes", "0", "must be float > 0.0"),
        ("/models?format=xml", "format", "xml", "must be json or csv"),
        ("/costs?by=colour", "by", "colour", "is refused: invalid enum value 'colour'"),
        ("/costs?start=2027-01-02&end=2027-01-01", "start", "2027-01-02", "must be before end"),
        ("/ledger?start=0", "start", "0", "must be at most 400 days before end"),
        ("/catalogue/diff?older=1", "newer", "", "must be given"),
        ("/overrides/chat/preview?verb=pin&replicas=99", "replicas", "99", "must be from 1 to 8"),
        ("/overrides/chat/preview?verb=pause&replicas=2", "replicas", "2", "belongs to pin only"),
        ("/overrides/*/preview?verb=pin&replicas=2", "subject", "*", "must be one model"),
        ("/feed", "topics", "", "must name some of: fleet, models, queues, breakers"),
        ("/feed?topics=weather", "topics", "weather", "is none of fleet, models"),
        ("/feed?events=fleet", "events", "fleet", "is none of the events: there are none"),
    ],
)
async def test_a_wrong_parameter_is_named_with_value_and_rule(
    client: Client, address: str, field: str, value: str, rule: str
) -> None:
    response = await client.get(API + address)
    problem = await response.json()

    assert response.status == 400
    assert response.content_type == "application/problem+json"
    fault = problem["errors"][0]
    assert (fault["field"], fault["value"]) == (field, value)
    assert fault["rule"].startswith(rule)
    assert problem["detail"].startswith(f"{field}: {value!r} {rule}")


async def test_every_fault_of_a_body_is_told_at_once(client: Client) -> None:
    response = await client.post(f"{API}/runs", json={"seed": -1, "policy": "", "fast": True})
    problem = await response.json()

    told = {fault["field"]: fault["rule"] for fault in problem["errors"]}
    assert response.status == 400
    assert set(told) == {"fast", "seed", "policy", "scenario"}
    assert told["scenario"] == "must be given"
    assert told["seed"] == "must be int >= 0"


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[1]", "application/json", 400),
        (b"a=1", "text/plain", 415),
        (b"{}", "application/json", 400),
        (b" " * (3 * 2**20), "application/json", 413),
    ],
    ids=["no JSON", "no object", "other type", "nothing given", "too large"],
)
async def test_a_body_that_cannot_be_used_is_refused(
    client: Client, body: bytes, kind: str, status: int
) -> None:
    headers = {"Content-Type": kind}
    response = await client.post(f"{API}/runs", data=BytesIO(body), headers=headers)

    assert response.status == status
    assert response.content_type == "application/problem+json"


async def test_a_form_is_understood_as_well_as_json(client: Client, state: State) -> None:
    response = await client.post(f"{API}/overrides/chat", data={"verb": "pin", "replicas": "3"})

    assert response.status == 200, await response.text()
    assert (await state.overrides.overrides())["chat"].pinned == 3


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/api/v1/models/nobody", 404),
        ("GET", "/api/v1/models/nobody/series", 404),
        ("GET", "/api/v1/decisions/4711", 404),
        ("GET", "/api/v1/catalogue/versions/9", 404),
        ("GET", "/api/v1/runs/r9", 404),
        ("POST", "/api/v1/runs/r9/cancel", 404),
        ("POST", "/api/v1/fleet", 405),
        ("DELETE", "/api/v1/models/chat", 405),
    ],
)
async def test_what_is_not_there_is_a_problem_too(
    client: Client, method: str, address: str, status: int
) -> None:
    response = await client.request(method, address)
    problem = await response.json()

    assert response.status == status
    assert problem["status"] == status
    assert problem["instance"] == address
    assert ("Allow" in response.headers) == (status == 405)


class Broken:
    """A store that fails."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def decisions(self, query: object) -> Any:  # noqa: ARG002
        raise self._error

    async def decision(self, row: int) -> Any:  # noqa: ARG002
        raise self._error


async def test_a_fault_of_ours_leaks_nothing(opened: Opened, state: State) -> None:
    client = await opened(state, decisions=Broken(RuntimeError("password=hunter2")))

    with capture_logs() as logged:
        response = await client.get(f"{API}/decisions")
    text = await response.text()

    assert response.status == 500
    assert [entry["event"] for entry in logged] == ["request failed"]
    assert response.content_type == "application/problem+json"
    assert "hunter2" not in text
    assert "Traceback" not in text


async def test_what_cannot_be_had_now_says_so_and_when_to_come_back(
    opened: Opened, state: State
) -> None:
    client = await opened(state, decisions=Broken(UnavailableError("database is locked")))

    response = await client.get(f"{API}/decisions")

    assert response.status == 503
    assert "Retry-After" in response.headers
    assert "database is locked" in (await response.json())["detail"]


async def test_a_person_gets_a_page_without_scripts_or_insides(client: Client) -> None:
    response = await client.get("/nothing<script>", headers={"Accept": "text/html"})
    text = await response.text()

    assert response.status == 404
    assert response.content_type == "text/html"
    assert "<script>" not in text
    assert "There is nothing at this address." in text


@pytest.mark.parametrize("address", ["/api/v1/fleet", "/api/v1/nothing", "/login", "/healthz"])
async def test_every_answer_carries_the_security_headers(client: Client, address: str) -> None:
    headers = (await client.get(address)).headers

    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "script-src 'self';" in policy
    assert "default-src 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Server"] == "controlplane"
