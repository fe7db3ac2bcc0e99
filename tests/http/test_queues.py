"""The queues over HTTP: what is counted, against its limits; what is not counted says so."""

import csv
from io import StringIO
from typing import Any

from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.queues import ClassQueue, ModelQueue, Passed, Queues
from controlplane.domain.reasons import ReasonCode
from controlplane.http.door import FrontDoor
from controlplane.http.state import State
from controlplane.ports import UnavailableError
from tests.builders import CHAT
from tests.http.conftest import SMALL, T0, Client, Opened


class Door:
    """Tells what it is given."""

    def __init__(self, told: Queues | None) -> None:
        self.told = told

    async def queues(self) -> Queues | None:
        if self.told is None:
            raise UnavailableError("the gateway has not started yet")
        return self.told


def a_queue(at: float = T0, lately_s: float = 60.0) -> ModelQueue:
    lately = Passed(arrived=120, admitted=90, aged=2, refused={ReasonCode.QUEUE_FULL: 30})
    low = ClassQueue(
        waiting=12,
        oldest_s=4.5,
        in_flight=5,
        lately=lately,
        counted=Passed(arrived=700, refused={ReasonCode.QUEUE_FULL: 300}),
        tenants={"=team": 9, "b": 3},
    )
    idle = ClassQueue(waiting=0, oldest_s=0.0, in_flight=0, lately=Passed(), counted=Passed())
    return ModelQueue(
        at=at,
        since=T0 - 600.0,
        lately_s=lately_s,
        slots=16,
        lent=4,
        ready=2,
        classes={p: low if p is Priority.LOW else idle for p in PRIORITIES},
    )


async def rows(opened: Opened, state: State, door: FrontDoor, query: str = "") -> list[Any]:
    client = await opened(state, door=door)
    answer = await client.get(f"/api/v1/queues{query}")
    assert answer.status == 200
    listed: list[Any] = await answer.json()
    return listed


def low_of(listed: list[Any]) -> Any:
    return next(row for row in listed if (row["model"], row["priority"]) == (CHAT, "low"))


async def test_every_class_stands_against_its_limits(opened: Opened, state: State) -> None:
    listed = await rows(opened, state, FrontDoor(Door({CHAT: a_queue(), SMALL: a_queue()})))

    assert [(row["model"], row["priority"]) for row in listed] == [
        (name, priority.value) for name in (CHAT, SMALL) for priority in PRIORITIES
    ]
    low = low_of(listed)
    assert (low["waiting"]["value"], low["waiting"]["limit"]) == (12.0, 200)
    assert low["longest_wait"]["value"] == 4.5
    assert (low["in_flight"]["value"], low["in_flight"]["limit"]) == (5.0, 16 - 2 + 4)
    assert (low["admitted"]["value"], low["arrivals"]["value"]) == (1.5, 2.0)  # a second
    assert (low["refused"]["value"], low["refused_by"]) == (30.0, {"QueueFull": 30})
    assert low["refused_before"] == {"QueueFull": 300}
    assert (low["aged"]["value"], low["tenants"]) == (2.0, {"=team": 9, "b": 3})
    assert (low["lately_s"], low["counted_since"]) == (60.0, T0 - 600.0)


async def test_the_table_has_every_reason_as_a_column_and_executes_nothing(
    opened: Opened, state: State
) -> None:
    client = await opened(state, door=FrontDoor(Door({CHAT: a_queue()})))

    text = await (await client.get("/api/v1/queues.csv")).text()

    lines = list(csv.DictReader(StringIO(text)))
    (low,) = (r for r in lines if (r["model"], r["priority"]) == (CHAT, "low"))
    assert (low["waiting"], low["waiting_limit"], low["refused_QueueFull"]) == ("12.0", "200", "30")
    assert low["refused_BreakerOpen"] == "0"
    assert low["tenants"] == "'=team: 9; b: 3"


async def test_queues_are_narrowed_by_model_team_and_who_waits(
    opened: Opened, state: State
) -> None:
    door = FrontDoor(Door({CHAT: a_queue(), SMALL: a_queue()}))
    client = await opened(state, door=door)

    async def listed(query: str) -> list[tuple[str, str]]:
        found = await (await client.get(f"/api/v1/queues?{query}")).json()
        return [(row["model"], row["priority"]) for row in found]

    assert await listed("model=small&waiting=true") == [(SMALL, "low")]
    assert await listed("limit=1&offset=2") == [(CHAT, "low")]
    assert await listed("team=nobody") == []
    assert (await client.get("/api/v1/queues?model=unheard")).status == 404
    assert (await client.get("/api/v1/queues?limit=0")).status == 400


async def test_where_requests_pass_by_what_engines_tell_is_shown_and_the_rest_not_counted(
    client: Client,
) -> None:
    listed = await (await client.get("/api/v1/queues")).json()

    high = next(r for r in listed if (r["model"], r["priority"]) == (CHAT, "high"))
    assert (high["waiting"]["value"], high["arrivals"]["value"]) == (3.0, 12.0)
    for name in ("longest_wait", "in_flight", "admitted", "refused", "aged"):
        assert (high[name]["value"], high[name]["why"]) == (None, "NotCounted")
    assert high["counted_since"] is None


async def test_a_gateway_that_is_not_there_yet_is_no_empty_queue(
    opened: Opened, state: State
) -> None:
    low = low_of(await rows(opened, state, FrontDoor(Door(None))))

    assert (low["admitted"]["value"], low["admitted"]["why"]) == (None, "Unreachable")


async def test_an_old_count_is_stale_and_one_look_alone_says_nothing_of_late(
    opened: Opened, state: State
) -> None:
    old = FrontDoor(Door({CHAT: a_queue(at=T0 - 300.0), SMALL: a_queue(lately_s=0.0)}))
    listed = await rows(opened, state, old)

    assert low_of(listed)["waiting"]["why"] == "Stale"
    fresh = next(row for row in listed if (row["model"], row["priority"]) == (SMALL, "low"))
    assert fresh["waiting"]["value"] == 12.0
    assert (fresh["admitted"]["value"], fresh["admitted"]["why"]) == (None, "NotYet")
