"""Pause, resume, pin, unpin: looked at first, done once, told to the loops."""

from dataclasses import replace
from typing import Any

from controlplane.http.state import State
from tests.http.conftest import Client, Opened

AT = "/api/v1/overrides"


async def post(client: Client, subject: str, **body: Any) -> dict[str, Any]:
    response = await client.post(f"{AT}/{subject}", json=body)
    assert response.status == 200, await response.text()
    return dict(await response.json())


async def test_a_preview_shows_the_cost_and_changes_nothing(client: Client, state: State) -> None:
    response = await client.get(f"{AT}/chat/preview", params={"verb": "pin", "replicas": "5"})
    shown = await response.json()

    assert (shown["target"], shown["target_after"]) == (2, 5)
    assert shown["micros_per_hour"] == 3 * 3_000_000  # three more A100 at 3.00 an hour
    assert shown["changes"] is True
    assert await state.overrides.overrides() == {}
    assert await state.audit.entries() == []


async def test_a_pause_leaves_the_pin_as_it_is(client: Client, state: State) -> None:
    await post(client, "chat", verb="pin", replicas=3)
    await post(client, "chat", verb="pause")
    await post(client, "chat", verb="resume")

    held = (await state.overrides.overrides())["chat"]
    assert (held.paused, held.pinned) == (False, 3)


async def test_undoing_the_last_of_both_removes_the_override(client: Client, state: State) -> None:
    await post(client, "chat", verb="pin", replicas=3)

    shown = await post(client, "chat", verb="unpin")

    assert shown["after"] is None
    assert await state.overrides.overrides() == {}


async def test_everything_can_be_paused_at_once_and_the_top_bar_says_so(client: Client) -> None:
    shown = await post(client, "*", verb="pause")
    top = (await (await client.get("/api/v1/fleet")).json())["top"]

    assert shown["models"] == ["chat", "small"]
    assert top["paused_all_by"] == "local"


async def test_what_is_so_already_is_said_to_change_nothing(client: Client) -> None:
    assert (await post(client, "chat", verb="resume"))["changes"] is False


async def test_each_change_is_in_the_audit_log_once(client: Client, state: State) -> None:
    await post(client, "chat", verb="pause")
    await post(client, "chat", verb="pause")

    told = [(e.who, e.what, e.subject, e.ending) for e in await state.audit.entries()]
    assert told == [
        ("local", "pause", "chat", "unchanged"),
        ("local", "pause", "chat", "done"),
    ]


async def test_the_loops_are_woken(opened: Opened, state: State) -> None:
    woken: list[str] = []
    client = await opened(replace(state, wake=lambda: woken.append("now")))

    await post(client, "chat", verb="pause")

    assert woken == ["now"]


async def test_the_page_shows_the_change_at_once(client: Client) -> None:
    await client.get("/api/v1/models")
    await post(client, "chat", verb="pin", replicas=4)

    rows = await (await client.get("/api/v1/models")).json()

    assert rows[0]["pinned"] == 4


async def test_a_model_nobody_knows_is_not_paused(client: Client) -> None:
    assert (await client.post(f"{AT}/nobody", json={"verb": "pause"})).status == 404


async def test_a_catalogue_with_faults_changes_nothing(client: Client, state: State) -> None:
    text = "models:\n  chat:\n    min: 9\n"
    checked = await client.post("/api/v1/catalogue/validate", json={"text": text})

    assert await checked.json() == {
        "valid": False,
        "faults": ["api:3: models.chat.min: 9: must be at most max (8)"],
    }
    assert state.in_force.version.version == 1


async def test_a_run_is_started_watched_and_cancelled(client: Client) -> None:
    body = {"scenario": "seed-000", "policy": "hpa:0.7", "seed": 3}
    started = await client.post("/api/v1/runs", json=body)
    run = await started.json()
    cancelled = await client.post(f"/api/v1/runs/{run['id']}/cancel")
    again = await client.post(f"/api/v1/runs/{run['id']}/cancel")

    assert (started.status, run["state"]) == (202, "running")
    assert (await cancelled.json())["state"] == "cancelled"
    assert again.status == 409


async def test_a_run_of_something_unknown_is_refused_in_one_sentence(client: Client) -> None:
    for body in (
        {"scenario": "nowhere", "policy": "controlplane"},
        {"scenario": "seed-000", "policy": "nonsense"},
    ):
        response = await client.post("/api/v1/runs", json=body)
        assert response.status == 400
        assert "n" in (await response.json())["detail"]
