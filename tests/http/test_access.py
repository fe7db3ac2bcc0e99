"""Who may do what: roles, Host and Origin, for every route that changes something."""

import pytest
from yarl import URL

from controlplane.clock import wall
from controlplane.http.access import Access, Role, access_at
from controlplane.http.api.route import Route
from controlplane.http.api.table import ROUTES
from controlplane.http.auth import COOKIE
from controlplane.http.state import State
from tests.http.conftest import Client, Opened, a_token

PUBLIC = Access(loopback=False, hosts=frozenset({"cp.example"}))
CHANGES = [route for route in ROUTES if route.method != "GET"]
BODIES = {
    "/overrides/{subject}": {"verb": "pause"},
    "/catalogue/validate": {"text": "models: {}"},
    "/catalogue/apply": {"text": "models: {}"},
    "/runs": {"scenario": "seed-000", "policy": "controlplane"},
    "/tokens": {"name": "new", "role": "viewer"},
}
PARTS = {"subject": "chat", "name": "viewer-token", "id": "1"}


async def send(client: Client, route: Route, headers: dict[str, str] | None = None) -> int:
    async with client.request(
        route.method,
        route.address.format(**PARTS),
        json=BODIES.get(route.path, {}),
        headers=headers,
    ) as response:
        await response.read()
        return response.status


@pytest.mark.parametrize("role", list(Role), ids=str)
@pytest.mark.parametrize("route", CHANGES, ids=lambda route: f"{route.method} {route.path}")
async def test_a_change_needs_its_role(
    opened: Opened, state: State, route: Route, role: Role
) -> None:
    await state.whatif.start("seed-000", "controlplane", 1)
    client = await opened(state, access=PUBLIC)
    tokens = {made: await a_token(state, made) for made in Role}

    status = await send(client, route, tokens[role])

    assert (status < 300) == (role >= route.role), status
    assert status in {200, 201, 202, 403}


@pytest.mark.parametrize("route", CHANGES, ids=lambda route: f"{route.method} {route.path}")
@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Host": "evil.example"}, id="rebound name"),
        pytest.param({"Origin": "http://evil.example"}, id="other site"),
        pytest.param({"Origin": "null"}, id="sandboxed frame"),
        pytest.param({"Origin": "http://127.0.0.1:1"}, id="other port"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, id="browser says cross-site"),
        pytest.param({"Sec-Fetch-Site": "same-site"}, id="a sibling domain"),
    ],
)
async def test_another_site_changes_nothing_also_on_loopback(
    client: Client, state: State, route: Route, headers: dict[str, str]
) -> None:
    assert await send(client, route, headers) == 403
    assert await state.overrides.overrides() == {}
    assert await state.tokens.tokens() == []


async def test_on_loopback_without_tokens_the_caller_is_the_operator(
    client: Client, state: State
) -> None:
    assert await send(client, _route("/overrides/{subject}")) == 200
    assert await send(client, _route("/tokens")) == 403  # an admin's

    assert (await state.overrides.overrides())["chat"].by == "local"


async def test_a_rebound_name_reads_nothing_on_loopback(client: Client) -> None:
    response = await client.get("/api/v1/fleet", headers={"Host": "evil.example:8080"})

    assert response.status == 403
    assert "evil.example" in (await response.json())["detail"]


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "[::1]:8080"])
async def test_loopback_answers_to_its_own_names(client: Client, host: str) -> None:
    assert (await client.get("/api/v1/world", headers={"Host": host})).status == 200


async def test_our_own_pages_may_change_things(client: Client) -> None:
    origin = f"http://{client.host}:{client.port}"

    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}

    assert await send(client, _route("/overrides/{subject}"), headers) == 200


async def test_behind_tls_the_scheme_may_differ(opened: Opened, state: State) -> None:
    client = await opened(state, access=PUBLIC)
    token = await a_token(state, Role.OPERATOR)
    headers = {**token, "Host": "cp.example", "Origin": "https://cp.example"}

    assert await send(client, _route("/overrides/{subject}"), headers) == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [("cp.example", 200), ("10.1.2.3:8080", 200), ("elsewhere.example", 403)],
)
async def test_a_public_bind_answers_to_configured_names_and_addresses(
    opened: Opened, state: State, host: str, status: int
) -> None:
    client = await opened(state, access=PUBLIC)
    token = await a_token(state, Role.OPERATOR)

    assert await send(client, _route("/overrides/{subject}"), {**token, "Host": host}) == status


async def test_any_other_bind_asks_for_a_token(opened: Opened, state: State) -> None:
    client = await opened(state, access=PUBLIC)

    response = await client.get("/api/v1/fleet")

    assert response.status == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    wrong = {"Authorization": "Bearer cp_wrong"}
    assert (await client.get("/api/v1/fleet", headers=wrong)).status == 401


async def test_once_a_token_exists_loopback_asks_for_it_too(opened: Opened, state: State) -> None:
    token = await a_token(state, Role.VIEWER)
    client = await opened(state)

    assert (await client.get("/api/v1/fleet")).status == 401
    assert (await client.get("/api/v1/fleet", headers=token)).status == 200


async def test_an_expired_token_opens_nothing(opened: Opened, state: State) -> None:
    client = await opened(state, access=PUBLIC)
    old = await a_token(state, Role.ADMIN, expires_at=wall() - 1)

    assert (await client.get("/api/v1/fleet", headers=old)).status == 401


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_probes_need_nothing(opened: Opened, state: State, path: str) -> None:
    client = await opened(state, access=PUBLIC)

    assert (await client.get(path, headers={"Host": "10.0.0.7:8080"})).status == 200


async def test_a_browser_is_sent_to_log_in_and_back(opened: Opened, state: State) -> None:
    client = await opened(state, access=PUBLIC)
    bearer = await a_token(state, Role.OPERATOR)
    secret = bearer["Authorization"].split()[1]

    sent = await client.get("/?a=1", headers={"Accept": "text/html"}, allow_redirects=False)
    login = sent.headers["Location"]
    wrong = await client.post(login, data={"token": "cp_x"}, allow_redirects=False)
    right = await client.post(login, data={"token": secret}, allow_redirects=False)

    assert URL(login) == URL("/login").with_query(next="/?a=1")
    assert wrong.status == 401
    assert (right.status, right.headers["Location"]) == (303, "/?a=1")
    cookie = right.cookies[COOKIE]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Strict")
    assert (await client.get("/api/v1/fleet")).status == 200  # the client keeps the cookie


async def test_a_change_with_a_cookie_must_name_its_origin(opened: Opened, state: State) -> None:
    client = await opened(state, access=PUBLIC)
    secret = (await a_token(state, Role.OPERATOR))["Authorization"].split()[1]
    cookie = {"Cookie": f"{COOKIE}={secret}"}
    ours = {"Origin": f"http://{client.host}:{client.port}"}

    assert await send(client, _route("/overrides/{subject}"), cookie) == 403
    assert await send(client, _route("/overrides/{subject}"), {**cookie, **ours}) == 200


@pytest.mark.parametrize("wish", ["//evil.example", "/\\evil.example", "https://evil.example", "x"])
async def test_the_way_back_from_the_login_leads_nowhere_else(
    opened: Opened, state: State, wish: str
) -> None:
    client = await opened(state)
    secret = (await a_token(state, Role.VIEWER))["Authorization"].split()[1]

    sent = await client.post(
        "/login", params={"next": wish}, data={"token": secret}, allow_redirects=False
    )

    assert sent.headers["Location"] == "/"


async def test_changes_are_written_down_refused_ones_too(opened: Opened, state: State) -> None:
    client = await opened(state, access=PUBLIC)
    admin = await a_token(state, Role.ADMIN)
    viewer = await a_token(state, Role.VIEWER)

    await send(client, _route("/overrides/{subject}"), viewer)
    await send(client, _route("/overrides/{subject}"), admin)
    await send(client, _route("/tokens"), admin)

    told = [(e.who, e.what, e.subject, e.ending) for e in await state.audit.entries()]
    assert told == [
        ("admin-token", "add token", "new", "done"),
        ("admin-token", "pause", "chat", "done"),
        ("viewer-token", "override", "chat", told[-1][3]),
    ]
    assert told[-1][3].startswith("refused: role: 'viewer'")


async def test_a_secret_is_shown_once_and_kept_nowhere(opened: Opened, state: State) -> None:
    client = await opened(state, access=PUBLIC)
    admin = await a_token(state, Role.ADMIN)

    made = await client.post("/api/v1/tokens", json=BODIES["/tokens"], headers=admin)
    secret = (await made.json())["secret"]
    listed = await (await client.get("/api/v1/tokens", headers=admin)).text()
    again = await client.post("/api/v1/tokens", json=BODIES["/tokens"], headers=admin)

    assert made.status == 201
    assert secret not in listed
    assert all(secret not in repr(entry) for entry in await state.audit.entries())
    assert (await client.get("/api/v1/world", headers={"Authorization": f"Bearer {secret}"})).ok
    assert again.status == 409


async def test_a_token_taken_away_stops_working_at_once(opened: Opened, state: State) -> None:
    client = await opened(state, access=PUBLIC)
    admin, viewer = await a_token(state, Role.ADMIN), await a_token(state, Role.VIEWER)

    assert (await client.delete("/api/v1/tokens/viewer-token", headers=admin)).status == 200

    assert (await client.get("/api/v1/world", headers=viewer)).status == 401
    assert (await client.delete("/api/v1/tokens/viewer-token", headers=admin)).status == 404


def _route(path: str) -> Route:
    return next(route for route in CHANGES if route.path == path)


@pytest.mark.parametrize(
    ("bound", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("cp.example", False),
        ("localhost.evil.example", False),
    ],
)
def test_only_a_loopback_bind_counts_as_one(bound: str, loopback: bool) -> None:
    assert access_at(bound).loopback is loopback


def test_names_are_taken_from_a_list_with_commas() -> None:
    assert access_at("0.0.0.0", " CP.example, cp2.example ,").hosts == {
        "cp.example",
        "cp2.example",
        "0.0.0.0",
    }
