"""Whatever a stranger sends, the answer says whose fault it is: never 500, never a crash."""

from http import HTTPStatus

import pytest

from controlplane.http.app import make_app
from controlplane.http.pages import add_pages
from controlplane.http.state import State
from tests.http.conftest import API_OVERRIDE, Client, Opened, raw

FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"[" * 100_000),
        ("application/json", b'{"a":' * 100_000),
        ("application/json", b'{"verb":"\xff\xfe"}'),
        ("application/json", b'{"verb":"\\ud800"}'),
        ("application/json", b'{"verb":"pin","replicas":NaN}'),
        ("application/json", b'{"verb":"pin","replicas":1e400}'),
        ("application/json", b'{"verb":"pin","replicas":' + b"9" * 400 + b"}"),
        (f"{FORM}; charset=klingon", b"verb=pause"),
        (f"{FORM}; charset=utf-16", b"\xff"),
        (FORM, b"verb=%ed%a0%80"),
    ],
    ids=lambda part: str(part)[:40],
)
async def test_a_body_nobody_can_read_is_the_senders_fault(
    client: Client, state: State, kind: str, body: bytes
) -> None:
    response = await client.post(API_OVERRIDE, data=body, headers={"Content-Type": kind})

    assert response.status == HTTPStatus.BAD_REQUEST
    assert not await state.overrides.overrides()


@pytest.mark.parametrize("address", ["/login", "/settings", "/overrides/chat/pause", "/what-if"])
@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=x", f"{FORM}; charset=klingon"]
)
async def test_a_form_nobody_can_read_is_refused_wherever_it_is_sent(
    aiohttp_client: Opened, state: State, address: str, kind: str
) -> None:
    client: Client = await aiohttp_client(make_app(state, add_pages))

    response = await client.post(address, data=b"garbage", headers={"Content-Type": kind})

    assert response.status == HTTPStatus.BAD_REQUEST


@pytest.mark.parametrize(
    "header", [b"Authorization: Bearer \xff\xfe", b"Cookie: controlplane_token=\xff\xfe"]
)
async def test_a_secret_of_odd_bytes_is_nobodys(client: Client, header: bytes) -> None:
    answer = await raw(client, b"GET /api/v1/fleet HTTP/1.1\r\n" + header)

    assert answer.startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize(
    "address",
    [
        f"/decisions?before={2**63}",
        f"/decisions?before={10**30}",
        f"/catalogue/diff?older={2**63}&newer=1",
        f"/catalogue/diff?older=1&newer={10**30}",
    ],
)
async def test_a_number_no_database_can_hold_is_a_wrong_parameter(
    client: Client, address: str
) -> None:
    response = await client.get("/api/v1" + address)

    assert response.status == HTTPStatus.BAD_REQUEST
    assert "must be" in (await response.json())["detail"]
