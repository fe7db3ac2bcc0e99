"""One engine and what it said last. Two tasks ask it, so that slow health delays no figures."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import msgspec
import structlog
from aiohttp import ClientSession

from controlplane.adapters.engines import health, page
from controlplane.adapters.engines.calls import Answer, NoAnswerError, ask, served_name, url
from controlplane.adapters.engines.names import NAMES, Names
from controlplane.adapters.engines.page import Page
from controlplane.adapters.engines.tally import Tally
from controlplane.clock import Clock
from controlplane.decide.admission.pressure import EASY, pressed
from controlplane.domain.quantities import Instant
from controlplane.domain.samples import NOT_YET, Absence, Bad, NoData, Sample, fresh, reading
from controlplane.ports import EngineAt, EngineState

EVERY_S = 1.0  # of the clock's time
HEALTH_EVERY_S = {"mindie": 5.0}  # its manual asks for no more than that
WELL_FOR_S = 2.5  # a third of the calls, where nothing has changed
WITHIN_S = 2.0  # a page of metrics that takes longer is none
FRESH_S = 5.0  # a figure older than this is stale

log = structlog.stdlib.get_logger(__name__)


class Watched:
    """Asks one engine, for as long as its replica is there."""

    def __init__(self, engine: EngineAt, clock: Clock, session: ClientSession) -> None:
        """Begin to know nothing of it."""
        self.engine = engine
        self.names: Names = NAMES[engine.serving.engine]
        self.page: Page | None = None  # the last that was good
        self.page_at: Instant = 0.0
        self.lost: Sample | None = NOT_YET  # why there is no page now
        self.counted: Page | None = None  # the page up to which its load is in the model's sums
        self.counted_at: Instant = 0.0
        self.left_at: Instant = 0.0  # when it was taken out of service
        self.said: str | None = None  # why it is not healthy; empty where it is
        self.said_at: Instant = 0.0
        self.pressure = EASY
        self.sleeping = False
        self.warming_up = self.warmed_up = False
        self.note = ""
        self._clock, self._session = clock, session
        self._tasks: list[asyncio.Task[None]] = []
        self._stopped = False

    def start(self, heard: Callable[["Watched"], None], offset_s: float) -> None:
        """Ask from now on; `heard` is called after every answer, and every one that is missing."""
        asks: tuple[tuple[Callable[[], Awaitable[None]], float], ...] = (
            (self.ask_figures, EVERY_S),
            (self.ask_health, HEALTH_EVERY_S.get(self.engine.serving.engine, EVERY_S)),
        )
        for one, every_s in asks:
            watch = self._for_ever(one, heard, offset_s, every_s / self._clock.rate)
            self._tasks.append(asyncio.create_task(watch))

    def stop(self) -> Sequence[asyncio.Task[None]]:
        """Ask no more; give the tasks, which end soon.

        A call whose time is up at the very moment it is cancelled ends as timed out, and the
        cancellation is lost: so the tasks also look whether they should go on.
        """
        self._stopped = True
        for task in self._tasks:
            task.cancel()
        return self._tasks

    async def _for_ever(
        self,
        ask_once: Callable[[], Awaitable[None]],
        heard: Callable[["Watched"], None],
        offset_s: float,
        every_s: float,
    ) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + offset_s  # they take turns: a hundred at once would be a burst
        broken = False
        while not self._stopped:
            await asyncio.sleep(max(0.0, due - loop.time()))
            due = max(due + every_s, loop.time())
            try:
                await ask_once()
                if not self._stopped:
                    heard(self)
                broken = False
            except Exception:  # a bug with one engine must not end the watch over it
                if not broken:
                    log.exception("engine not understood", replica=self.engine.replica)
                broken = True

    def move_to(self, engine: EngineAt) -> None:
        """Know it in another lane; what it did before it served is not its model's load."""
        if engine.serves and not self.engine.serves:
            self.counted, self.counted_at = self.page, self.page_at
        if self.engine.serves and not engine.serves:
            self.left_at = self._clock.now()
        self.engine = engine

    def count_into(self, tally: Tally) -> None:
        """Add what it did since it was counted last, if it serves.

        After a silence only the counting begins anew: meanwhile the others spoke for it.
        """
        if self.page is None or self.page is self.counted:
            return
        if self.engine.serves and self.counted and self.page_at - self.counted_at <= FRESH_S:
            tally.add(self.counted, self.page, self.names)
        self.counted, self.counted_at = self.page, self.page_at

    async def ask_figures(self) -> None:
        """Look at its metrics once."""
        serving = self.engine.serving
        address = url(self.engine, serving.metrics_path, serving.metrics_port)
        try:
            answer = await ask(self._session, address, WITHIN_S)
        except NoAnswerError as cause:
            lost: Sample | None = NoData(Absence.UNREACHABLE, str(cause))
        else:
            lost = _no_page(answer, serving.metrics_path)
            if lost is None:
                self._take(answer)
        before, self.lost = self.lost, lost
        if (lost is None) != (before is None) and before is not NOT_YET:
            said = "figures are read again" if lost is None else "figures are missing"
            why = self.why_lost(self._clock.now()) if lost else ""
            log.info(said, replica=self.engine.replica, cause=why)

    def _take(self, answer: Answer) -> None:
        self.page = page.read(answer.body, self.names, served_name(self.engine))
        self.page_at = self._clock.now()
        figures = self.page.figures
        self.pressure = pressed(self.pressure, figures.get("queue"), figures.get("kv_usage"))
        awake = self.page.figures.get("asleep")  # the series of the state `awake`
        if awake is not None:
            self.sleeping = awake == 0

    async def ask_health(self) -> None:
        """Ask how it is; where it may sleep and its metrics do not tell, also whether it does.

        One that serves, was well and goes on answering for its metrics is asked less often.
        """
        silent_s = self._clock.now() - self.said_at
        if self.engine.serves and not self.said and self.lost is None and silent_s < WELL_FOR_S:
            return
        if self.engine.serving.may_sleep and (
            self.page is None or "asleep" not in self.page.figures
        ):
            await self._ask_whether_asleep()
        self.said = await health.ill(self._session, self.engine)
        self.said_at = self._clock.now()

    async def _ask_whether_asleep(self) -> None:
        within_s = self.engine.serving.health.timeout_s
        with suppress(NoAnswerError, msgspec.DecodeError):
            answer = await ask(self._session, url(self.engine, "/is_sleeping"), within_s)
            if answer.status == 200:
                self.sleeping = msgspec.json.decode(answer.body, type=_Sleeping).is_sleeping

    def sample(self, key: str, now: Instant) -> Sample:
        """Give one of its figures, or why there is none."""
        if self.page is None:
            return self.lost or NOT_YET
        if key in self.page.figures:
            return fresh(reading(self.page.figures[key], self.page_at), now, FRESH_S)
        if key in self.page.bad:
            return Bad(self.page.bad[key])
        wanted = ", ".join(metric.name for metric in getattr(self.names, key))
        kind = self.engine.serving.engine
        return NoData(Absence.NOT_EXPORTED, wanted or f"{kind} has no metric for it")

    def exports(self, key: str) -> bool:
        """Say whether it counts such a thing."""
        return self.page is not None and key in self.page.figures

    def answers(self, now: Instant) -> bool:
        """Say whether what it said last is young enough to count."""
        return self.page is not None and now - self.page_at <= FRESH_S

    def full(self, now: Instant) -> bool:
        """Say whether it has more than it can take; who says nothing is not held to be full."""
        return self.pressure.full and self.answers(now)

    def why_lost(self, now: Instant) -> str:
        """Say why it does not answer."""
        if isinstance(self.lost, NoData) and self.lost.note:
            return self.lost.note
        if isinstance(self.lost, Bad):
            return f"{self.engine.serving.metrics_path} is no page of metrics: {self.lost.raw}"
        return f"silent for {now - self.page_at:.0f} s" if self.page else "not asked yet"

    def in_flight(self, now: Instant) -> Sample:
        """Give what is in it, waiting or being generated.

        What it said before it was taken out of service does not count: more may have come since.
        """
        if self.page_at <= self.left_at:
            return NOT_YET if self.page is not None else self.sample("queue", now)
        queue, running = self.sample("queue", now), self.sample("running", now)
        if queue.x is None or running.x is None:
            return running if queue.x is not None else queue
        return reading(queue.x + running.x, self.page_at)

    def state(self, now: Instant) -> EngineState | None:
        """Give what it said last."""
        if self.said is None:
            return None
        why = self.said or ("it sleeps" if self.sleeping else "")
        return EngineState(
            at=self.said_at,
            healthy=not why,
            why=why,
            sleeping=self.sleeping,
            in_flight=self.in_flight(now),
            warming_up=self.warming_up,
            warmed_up=self.warmed_up,
            note=self.note or ("" if why else self._unread(now)),
        )

    def _unread(self, now: Instant) -> str:
        """Say why its figures are missing, though it is well."""
        return "" if self.lost is None else f"no figures: {self.why_lost(now)}"


class _Sleeping(msgspec.Struct):
    is_sleeping: bool


def _no_page(answer: Answer, path: str) -> Sample | None:
    """Say why an answer is no page of metrics. The status is read before the body."""
    if answer.status in (401, 403):
        return NoData(Absence.FORBIDDEN, f"{path} answers {answer.status}")
    if answer.status != 200:
        return NoData(Absence.UNREACHABLE, f"{path} answers {answer.status}")
    begins = answer.body[:80].lstrip()
    if begins[:1] in (b"<", b"[", b"{"):  # a proxy's page, or figures in JSON
        return Bad(begins.decode("utf-8", "replace"))
    return None
