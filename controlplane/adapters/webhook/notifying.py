"""Tells a webhook what holds: grouped by kind, each change once, what ended as well.

What comes within a moment of the first goes out together. What still stands is told again after
hours, not every cycle. What could not be delivered is kept and tried again, ever more rarely: the
newest state of a group is what goes out then, not every state in between. Of several daemons the
leader tells; who comes to lead anew tells what stands once more, which receivers take for the same
alerts, for they have the same labels.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import structlog
from aiohttp import ClientError, ClientSession, ClientTimeout

from controlplane.adapters.webhook.payload import Told, payload
from controlplane.clock import Clock, heard
from controlplane.domain.alerts import Alert, AlertName, Key
from controlplane.domain.handover import AlertsPolicy
from controlplane.domain.quantities import Instant
from controlplane.domain.sources import server_of

WITHIN_S = 5.0
AGAIN_S, AGAIN_LIMIT_S = 5.0, 300.0

log = structlog.stdlib.get_logger(__name__)


@dataclass(slots=True)
class _Group:
    """The alerts of one name: those that hold, those that ended and were not told yet."""

    firing: dict[Key, Alert] = field(default_factory=dict)
    ended: dict[Key, Told] = field(default_factory=dict)
    told: set[Key] = field(default_factory=set)  # those receivers know as firing
    due: Instant | None = None  # when the next message goes out
    failures: int = 0


class Notifier:
    """Keeps a receiver up to date."""

    def __init__(self, policy: Callable[[], AlertsPolicy], clock: Clock, address: str = "") -> None:
        """Tell whom the policy names; `address` is where people find the daemon's pages."""
        self._policy = policy
        self._clock = clock
        self._address = address
        self._groups: dict[AlertName, _Group] = {}
        self._changed = asyncio.Event()

    def update(self, alerts: Iterable[Alert]) -> None:
        """Take what holds now; what held before and is not among it has ended."""
        at = self._clock.now()
        by_name: dict[AlertName, dict[Key, Alert]] = {name: {} for name in self._groups}
        for alert in alerts:
            by_name.setdefault(alert.key.name, {})[alert.key] = alert
        for name, firing in by_name.items():
            self._take(self._groups.setdefault(name, _Group()), firing, at)

    def _take(self, group: _Group, firing: dict[Key, Alert], at: Instant) -> None:
        for key, alert in group.firing.items():
            if key not in firing and key in group.told:
                group.ended[key] = Told(alert, at)
        for key in firing:
            group.ended.pop(key, None)
        news = set(firing) != set(group.firing)
        group.firing = firing
        if not firing and not group.ended:
            group.due = None  # it came and went before anybody was told
        elif news:
            soon = at + self._policy().group_wait_s
            group.due = soon if group.due is None else min(group.due, soon)
            self._changed.set()

    async def run(self) -> NoReturn:
        """Tell for ever."""
        timeout = ClientTimeout(total=WITHIN_S)
        async with ClientSession(timeout=timeout) as session:
            while True:
                self._changed.clear()
                await self.tell(session)
                await self._sleep()

    async def tell(self, session: ClientSession) -> None:
        """Send what is due."""
        policy, at = self._policy(), self._clock.now()
        if policy.webhook is None:
            return
        for name, group in self._groups.items():
            if group.due is None or group.due > at:
                continue
            told = [*map(Told, group.firing.values()), *group.ended.values()]
            group.told |= group.firing.keys()  # it may arrive even where no answer comes back
            group.due = None  # whatever changes while this is on its way sets it anew
            failure = await self._send(session, policy, payload(name, told, self._address))
            if failure:
                self._failed(name, group, failure, at)
            else:
                self._taken(name, group, told, at + policy.repeat_s)

    def _taken(self, name: str, group: _Group, told: Iterable[Told], again_at: Instant) -> None:
        if group.failures:
            log.info("the webhook takes alerts again", alert=name)
        group.failures = 0
        for each in told:
            key = each.alert.key
            if each.ended is not None and group.ended.get(key) == each:
                del group.ended[key]
                group.told.discard(key)
        if group.due is None and group.firing:
            group.due = again_at

    def _failed(self, name: str, group: _Group, failure: str, at: Instant) -> None:
        if not group.failures:
            log.warning("the webhook does not take alerts", alert=name, cause=failure)
        again = at + min(AGAIN_LIMIT_S, AGAIN_S * 2**group.failures)
        group.due = again if group.due is None else min(group.due, again)
        group.failures = min(group.failures + 1, 10)

    async def _send(self, session: ClientSession, policy: AlertsPolicy, body: bytes) -> str:
        """Post a message; give why it was not taken."""
        headers = {"Content-Type": "application/json"}
        named = server_of(policy.webhook or "")
        try:
            if policy.token_file is not None:
                file = Path(policy.token_file)
                token = await asyncio.to_thread(file.read_text, "utf-8", "surrogateescape")
                if not token.strip().isprintable():
                    return f"alerts.token_file: {policy.token_file} is no line of text"
                headers["Authorization"] = f"Bearer {token.strip()}"
            async with session.post(
                policy.webhook or "", data=body, headers=headers, allow_redirects=False
            ) as answer:
                if answer.status < 300:
                    return ""
                # Followed, it would be asked for a page, and the alert would be lost.
                led = ", which leads elsewhere: set alerts.webhook to where it leads"
                return f"{named} answers {answer.status}{led if answer.status < 400 else ''}"
        except TimeoutError:
            return f"{named} did not answer within {WITHIN_S:g} s"
        except (ClientError, OSError) as cause:
            return f"{named} cannot be reached: {cause}"

    async def _sleep(self) -> None:
        """Sleep until something is due, or something changes."""
        due = [group.due for group in self._groups.values() if group.due is not None]
        left = None if not due else max(0.0, min(due) - self._clock.now()) / self._clock.rate
        if self._policy().webhook is None:
            left = None
        await heard(self._changed, left)
