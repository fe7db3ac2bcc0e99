"""Alerts at a real receiver: grouped, told once, told when they are over, kept while it is down."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from structlog.testing import capture_logs

from controlplane.adapters.webhook.notifying import Notifier
from controlplane.adapters.webhook.payload import fingerprint
from controlplane.clock import Clock
from controlplane.domain.alerts import Alert, AlertName, Key
from controlplane.domain.handover import AlertsPolicy
from tests.cluster.stage.waiting import until


@dataclass
class Receiver:
    """Takes what is posted."""

    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    messages: "asyncio.Queue[dict[str, Any]]" = field(default_factory=asyncio.Queue)

    async def take(self, request: web.Request) -> web.Response:
        self.headers = dict(request.headers)
        self.messages.put_nowait(json.loads(await request.read()))
        return web.Response(status=self.status, headers={"Location": "/page"})

    async def page(self, _: web.Request) -> web.Response:
        return web.Response(text="welcome")

    async def next(self, within_s: float = 30.0) -> dict[str, Any]:
        async with asyncio.timeout(within_s):
            return await self.messages.get()


@asynccontextmanager
async def notified(**policy: Any) -> AsyncIterator[tuple[Notifier, Receiver]]:
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/hook", receiver.take)
    app.router.add_get("/page", receiver.page)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    told = AlertsPolicy(webhook=receiver.url, **{"group_wait_s": 0.0, **policy})
    clock = Clock()
    clock.now = lambda: 1_000.0 + asyncio.get_running_loop().time()  # type: ignore[method-assign]  # small figures
    notifier = Notifier(lambda: told, clock, "http://controlplane:8080")
    running = asyncio.create_task(notifier.run())
    try:
        yield notifier, receiver
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await runner.cleanup()


def an_alert(model: str = "chat", name: AlertName = AlertName.NO_DATA) -> Alert:
    return Alert(key=Key(name, model), since=1_700_000_000.0, summary=f"{model}: not known")


async def test_the_message_is_what_alertmanager_sends() -> None:
    async with notified() as (notifier, receiver):
        notifier.update([an_alert()])
        message = await receiver.next()

    labels = {"alertname": "ControlplaneNoData", "model": "chat", "severity": "warning"}
    assert message == {
        "version": "4",
        "groupKey": '{}:{alertname="ControlplaneNoData"}',
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "controlplane",
        "groupLabels": {"alertname": "ControlplaneNoData"},
        "commonLabels": labels,
        "commonAnnotations": {"summary": "chat: not known", "description": "chat: not known"},
        "externalURL": "http://controlplane:8080",
        "alerts": [
            {
                "status": "firing",
                "labels": labels,
                "annotations": {"summary": "chat: not known", "description": "chat: not known"},
                "startsAt": "2023-11-14T22:13:20.000Z",
                "endsAt": "0001-01-01T00:00:00Z",
                "generatorURL": "http://controlplane:8080/models/chat",
                "fingerprint": fingerprint(labels),
            }
        ],
    }


async def test_what_comes_together_goes_out_together_by_kind() -> None:
    async with notified(group_wait_s=0.2) as (notifier, receiver):
        notifier.update([an_alert("a")])
        notifier.update([an_alert("a"), an_alert("b"), an_alert("a", AlertName.BREAKER_OPEN)])
        messages = [await receiver.next(), await receiver.next()]

    models = {
        m["groupLabels"]["alertname"]: [a["labels"]["model"] for a in m["alerts"]] for m in messages
    }
    assert models == {"ControlplaneNoData": ["a", "b"], "ControlplaneBreakerOpen": ["a"]}
    assert messages[0]["commonLabels"]["alertname"]


async def test_what_still_stands_is_told_once() -> None:
    async with notified() as (notifier, receiver):
        for _ in range(20):
            notifier.update([an_alert()])
            await asyncio.sleep(0)
        await receiver.next()
        notifier.update([an_alert()])
        notifier.update([an_alert(), an_alert("b")])
        second = await receiver.next()

    assert len(second["alerts"]) == 2
    assert receiver.messages.empty()


async def test_what_still_stands_is_told_again_after_hours() -> None:
    async with notified(repeat_s=0.2) as (notifier, receiver):
        notifier.update([an_alert()])
        first, second = await receiver.next(), await receiver.next()

    assert first["alerts"][0]["fingerprint"] == second["alerts"][0]["fingerprint"]


async def test_what_is_over_is_told_as_resolved_once() -> None:
    async with notified() as (notifier, receiver):
        notifier.update([an_alert("a"), an_alert("b")])
        await receiver.next()
        notifier.update([an_alert("a")])
        half = await receiver.next()
        notifier.update([])
        whole = await receiver.next()

    assert half["status"] == "firing"
    assert {a["labels"]["model"]: a["status"] for a in half["alerts"]} == {
        "a": "firing",
        "b": "resolved",
    }
    assert whole["status"] == "resolved"
    assert [a["labels"]["model"] for a in whole["alerts"]] == ["a"]


async def test_what_came_and_went_before_anybody_was_told_is_not_told() -> None:
    async with notified(group_wait_s=0.3) as (notifier, receiver):
        notifier.update([an_alert("brief")])
        notifier.update([])
        notifier.update([an_alert("other", AlertName.OVER_BUDGET)])
        message = await receiver.next()

    assert message["groupLabels"] == {"alertname": "ControlplaneOverBudget"}
    assert receiver.messages.empty()


async def test_while_the_receiver_is_down_the_newest_state_is_kept() -> None:
    async with notified() as (notifier, receiver):
        receiver.status = 503
        notifier.update([an_alert("a")])
        await receiver.next()
        receiver.status = 200
        notifier.update([an_alert("a"), an_alert("b")])
        message = await receiver.next()

    assert [a["labels"]["model"] for a in message["alerts"]] == ["a", "b"]


async def test_a_receiver_may_want_a_token(tmp_path: Any) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret\n")
    async with notified(token_file=str(token)) as (notifier, receiver):
        notifier.update([an_alert()])
        await receiver.next()

    assert receiver.headers["Authorization"] == "Bearer s3cret"


async def test_an_alert_is_not_lost_on_its_way_to_a_page() -> None:
    """A redirected POST becomes a GET, and any page that answers it would seem to have taken it."""
    async with notified() as (notifier, receiver):
        receiver.status = 302
        with capture_logs() as told:
            notifier.update([an_alert()])
            await receiver.next()
            await until(lambda: any_of(told), 20.0)
        receiver.status = 200
        message = await receiver.next()

    assert "answers 302, which leads elsewhere: set alerts.webhook" in told[0]["cause"]
    assert [alert["labels"]["model"] for alert in message["alerts"]] == ["chat"]


async def any_of(told: Sequence[object]) -> bool:
    return bool(told)


async def test_a_token_file_that_holds_no_token_costs_no_message(tmp_path: Any) -> None:
    token = tmp_path / "token"
    token.write_bytes(b"\xff\xfe")
    async with notified(token_file=str(token)) as (notifier, receiver):
        with capture_logs() as told:
            notifier.update([an_alert()])
            await until(lambda: any_of(told), 20.0)
        token.write_text("s3cret")
        await receiver.next()

    assert told[0]["cause"] == f"alerts.token_file: {token} is no line of text"
    assert receiver.headers["Authorization"] == "Bearer s3cret"
