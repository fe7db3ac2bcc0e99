"""Probes: a silent loop is unhealthy, a daemon that saw nothing is not ready."""

import asyncio

from controlplane.http.state import State
from tests.http.conftest import Client, Opened


async def test_a_silent_loop_fails_the_health_check_by_name(client: Client, state: State) -> None:
    now = asyncio.get_running_loop().time()
    state.heartbeats.beat("scaling", 5.0, now)
    well = await client.get("/healthz")
    state.heartbeats.beat("spare", 5.0, now - 16.1)  # three periods and a second
    ill = await client.get("/healthz")

    assert (well.status, (await well.json())["status"]) == (200, "ok")
    assert ill.status == 503
    assert (await ill.json())["silent"] == ["spare"]


async def test_a_loop_that_fails_but_beats_is_alive_and_shows_its_failure(
    client: Client, state: State
) -> None:
    now = asyncio.get_running_loop().time()
    state.heartbeats.beat("scaling", 5.0, now, failure="ValueError: x")

    found = await (await client.get("/api/v1/health")).json()

    assert found["status"] == "ok"
    assert found["loops"]["scaling"]["failure"] == "ValueError: x"
    assert found["loops"]["scaling"]["failures"] == 1


async def test_it_is_ready_once_it_saw_the_cluster_and_the_store_answers(
    client: Client, state: State
) -> None:
    ready = await client.get("/readyz")
    state.history.view = None
    early = await client.get("/readyz")

    assert ready.status == 200
    assert early.status == 503
    assert (await early.json())["missing"] == ["the cluster was not seen yet"]


async def test_a_store_that_does_not_answer_is_not_ready(opened: Opened, state: State) -> None:
    class Locked:
        async def decisions(self, query: object) -> None:  # noqa: ARG002
            raise OSError("locked by pid 7")

    client = await opened(state, decisions=Locked())
    response = await client.get("/readyz")

    assert response.status == 503
    assert await response.json() == {
        "ready": False,
        "missing": ["the store does not answer (OSError)"],
    }


async def test_metrics_are_scraped_as_text(client: Client) -> None:
    await client.get("/api/v1/models/chat")
    response = await client.get("/metrics")
    text = await response.text()

    assert response.content_type == "text/plain"
    assert 'controlplane_queue_depth{model="small",priority="low"} 0.0' in text
    assert (
        'controlplane_http_requests_total{method="GET",route="/api/v1/models/{name}",status="200"}'
        " 1.0" in text
    )
