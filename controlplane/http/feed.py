"""The live feed: one stream per page, one computation per tick for everybody.

Every event is a whole picture, so nothing is lost when one is missed: a client that is slow gets
the newest, one that stops reading is dropped, and one that comes back with its `Last-Event-ID` gets
only what changed since. `topics` are read models as JSON; `events` are the fragments the pages
registered, rendered for the reader's language, role and filters (the rest of the address).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Annotated, TypeAlias

import msgspec
from aiohttp import web
from aiohttp_sse import EventSourceResponse
from msgspec import Meta

from controlplane.http.access import Role
from controlplane.http.api.route import Call, Route
from controlplane.http.broadcast import Broadcast, Watched
from controlplane.http.encoding import encoded
from controlplane.http.frame import FRAGMENTS, Glance
from controlplane.http.pages.language import chosen_language
from controlplane.http.problems import ProblemError, bad
from controlplane.http.reads.breakers import breaker_rows
from controlplane.http.reads.costs import CostQuery, costs
from controlplane.http.reads.decisions import decision_list
from controlplane.http.reads.fleet import fleet
from controlplane.http.reads.models import model_rows
from controlplane.http.reads.queues import queue_rows
from controlplane.http.state import STATE, State
from controlplane.ports import DecisionQuery

HEARTBEAT_S = 5.0  # an event, so that the page itself can tell silence from calm
MOST_CLIENTS = 200
MOST_EVENTS = 20
DAY_S = 86_400.0

BROADCAST = web.AppKey("broadcast", Broadcast)
PATIENCE_S: web.AppKey[float] = web.AppKey("patience_s")
"""Who does not take an event within this time is dropped; 5 s where nothing is said."""
Read: TypeAlias = Callable[[State, Glance], Awaitable[object]]


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """What to follow. Everything else in the address goes to the fragments."""

    topics: Annotated[
        str,
        Meta(description="As JSON: fleet, models, queues, breakers, decisions, costs, runs."),
    ] = ""
    events: Annotated[str, Meta(description="Pieces of pages as HTML, by their names.")] = ""
    model: Annotated[str, Meta(description="For decisions: only about this model.")] = ""


async def _decisions(state: State, glance: Glance) -> object:
    return await decision_list(state, DecisionQuery(subject=glance.get("model") or None, limit=50))


async def _costs(state: State, _glance: Glance) -> object:
    now = state.clock.now()
    return await costs(state, CostQuery(start=now - now % DAY_S, end=now - now % 60 + 60))


async def _fleet(state: State, _glance: Glance) -> object:
    return await fleet(state)


async def _models(state: State, _glance: Glance) -> object:
    return await model_rows(state)


async def _queues(state: State, _glance: Glance) -> object:
    return await queue_rows(state)


async def _breakers(state: State, _glance: Glance) -> object:
    return await breaker_rows(state)


async def _runs(state: State, _glance: Glance) -> object:
    return await state.whatif.runs()


TOPICS: Mapping[str, Read] = {
    "fleet": _fleet,
    "models": _models,
    "queues": _queues,
    "breakers": _breakers,
    "decisions": _decisions,
    "costs": _costs,
    "runs": _runs,
}


async def broadcasting(app: web.Application) -> AsyncIterator[None]:
    """Run the broadcast while the application lives."""
    state = app[STATE]

    async def compute(thing: Watched) -> str:
        if thing.as_html:
            return await app[FRAGMENTS][thing.event](state, thing.glance)
        return (await encoded(await TOPICS[thing.event](state, thing.glance))).decode()

    app[BROADCAST] = broadcast = Broadcast(compute, lambda: fleet(state))
    running = asyncio.create_task(broadcast.run())
    yield
    broadcast.close()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def end_streams(app: web.Application) -> None:
    """Let every stream end, so that a shutdown need not wait for browsers."""
    app[BROADCAST].close()


async def _feed(call: Call) -> web.StreamResponse:
    broadcast = call.request.app[BROADCAST]
    things = _things(call)
    clients = call.state.metrics.watching
    if call.state.shared.thing("clients", _Clients).count >= MOST_CLIENTS:
        raise ProblemError(503, f"The feed has {MOST_CLIENTS} clients and takes no more now")
    patience_s = call.request.app.get(PATIENCE_S, 5.0)
    stream = EventSourceResponse(ping_interval=HEARTBEAT_S, send_timeout=patience_s)
    await stream.prepare(call.request)
    broadcast.watch(things)
    with call.state.shared.thing("clients", _Clients), clients.track_inprogress():
        try:
            last_id = call.request.headers.get("Last-Event-ID")
            await _follow(stream, broadcast, things, last_id, patience_s)
        except TimeoutError:
            call.state.metrics.dropped.inc()
            if call.request.transport is not None:
                call.request.transport.abort()
        except ConnectionResetError:
            pass  # the page was closed
        finally:
            broadcast.unwatch(things)
            stream.stop_streaming()
    return stream


async def _follow(
    stream: EventSourceResponse,
    broadcast: Broadcast,
    things: Sequence[Watched],
    last_id: str | None,
    patience_s: float,
) -> None:
    """Send what changed after each tick, oldest change first."""
    seen = _seen(broadcast, last_id)
    loop = asyncio.get_running_loop()
    spoken = loop.time()
    await stream.send("", event="heartbeat", retry=2000)
    if not seen:  # what is held may be older than the page that was just written
        await broadcast.ticked()
    while stream.is_connected() and not broadcast.closed:
        changed = [p for p in broadcast.pictures(things).values() if p.number > seen]
        for picture in sorted(changed):
            async with asyncio.timeout(patience_s):
                await stream.write(picture.frame)
            seen, spoken = picture.number, loop.time()
        if loop.time() - spoken >= HEARTBEAT_S:
            await stream.send("", event="heartbeat")
            spoken = loop.time()
        await broadcast.ticked()


def _seen(broadcast: Broadcast, last_id: str | None) -> int:
    """Read how far a returning client came; numbers of another process mean nothing."""
    boot, _, number = (last_id or "").rpartition("-")
    return int(number) if boot == broadcast.boot and number.isdecimal() else 0


def _things(call: Call) -> tuple[Watched, ...]:
    wanted: Watch = call.params
    fragments = call.request.app.get(FRAGMENTS, {})
    topics = _names("topics", wanted.topics, TOPICS)
    events = _names("events", wanted.events, fragments)
    if not topics and not events:
        raise bad("topics", "", f"must name some of: {', '.join(TOPICS)}")
    if twice := set(topics) & set(events):
        raise bad("events", ", ".join(sorted(twice)), "must not be topics as well")
    rest = tuple((k, v) for k, v in call.request.query.items() if k not in {"topics", "events"})
    page = Glance(language=chosen_language(call.request), role=call.caller.role, query=rest)
    data = Glance(role=Role.VIEWER, query=(("model", wanted.model),) if wanted.model else ())
    return (
        *(Watched(name, as_html=False, glance=data) for name in topics),
        *(Watched(name, as_html=True, glance=page) for name in events),
    )


def _names(field: str, written: str, known: Mapping[str, object]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in written.split(",") if name.strip()))
    for name in names:
        if name not in known:
            raise bad(field, name, f"is none of {', '.join(known) or 'the events: there are none'}")
    if len(names) > MOST_EVENTS:
        raise bad(field, len(names), f"must name at most {MOST_EVENTS}")
    return names


class _Clients:
    """Counts open streams."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> None:
        self.count += 1

    def __exit__(self, *_: object) -> None:
        self.count -= 1


FEED_ROUTE = Route(
    method="GET",
    path="/feed",
    summary="Server-sent events: each is the newest whole picture of what it is named after.",
    run=_feed,
    answer=None,
    tag="feed",
    params=Watch,
    open_query=True,
    produces="text/event-stream",
    faults=(503,),
)
