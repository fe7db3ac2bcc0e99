"""The breakers over HTTP: where each stands, what was counted; and isolating a model by hand."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from typing import Any

from controlplane.decide.breakers.breaker import CLOSED, Breaker
from controlplane.decide.breakers.breaker import State as Stands
from controlplane.decide.breakers.happenings import BreakerSeen, Ends, decide_breaker
from controlplane.domain.overrides import Isolation, Override
from controlplane.domain.policies import BreakerPolicy
from controlplane.domain.quantities import ModelName
from controlplane.http.access import Role
from controlplane.http.door import FrontDoor
from controlplane.http.state import State
from controlplane.ports import BreakersView, ClusterSettings, UnavailableError
from tests.builders import CHAT
from tests.http.conftest import SMALL, T0, Client, Opened, a_token

AT = "/api/v1/overrides"
OPEN = Breaker(state=Stands.OPEN, since=T0 - 40.0, opened=2, until=T0 + 20.0)


class Guard:
    """Tells what it is given."""

    def __init__(
        self,
        states: Mapping[ModelName, Breaker] | None,
        counts: bool = True,
        ejected: Mapping[ModelName, int] | None = None,
    ) -> None:
        self.states, self.counts, self.out = states, counts, ejected

    async def breakers(self) -> BreakersView | None:
        if self.states is None:
            raise UnavailableError("the gateway has not started yet")
        return BreakersView(at=T0, counts=self.counts, states=self.states)

    async def ejected(self) -> Mapping[ModelName, int] | None:
        return self.out

    async def settings(self, model: ModelName) -> Sequence[ClusterSettings] | None:
        if self.states is None:
            raise UnavailableError("the gateway has not started yet")
        return [
            ClusterSettings(name=model, rendered="a\nb\nc", live="a\nx\nc"),
            ClusterSettings(name=f"{model}~lent", rendered="a", live="a"),
            ClusterSettings(name=f"{model}~more", rendered="a", live=None),
        ]


def through(guard: Guard) -> FrontDoor:
    return FrontDoor(guards=guard)


async def rows(opened: Opened, state: State, door: FrontDoor, query: str = "") -> dict[str, Any]:
    client = await opened(state, door=door)
    answer = await client.get(f"/api/v1/breakers{query}")
    assert answer.status == 200
    return {row["model"]: row for row in await answer.json()}


async def test_an_open_breaker_says_since_when_and_when_it_is_probed(
    opened: Opened, state: State
) -> None:
    guard = Guard({CHAT: OPEN, SMALL: Breaker(failures=3)}, ejected={CHAT: 1})
    told = await rows(opened, state, through(guard))

    chat, small = told[CHAT], told[SMALL]
    assert (chat["state"], chat["since"], chat["probe_at"]) == ("open", T0 - 40.0, T0 + 20.0)
    assert (chat["opened"], chat["next_open_s"]) == (2, 120.0)  # 30 s, doubled twice
    assert (chat["ejected"]["value"], chat["ejected"]["limit"]) == (1.0, 1)  # of two in service
    assert (small["state"], small["since"], small["probe_at"]) == ("closed", None, None)
    assert (small["failures"]["value"], small["failures"]["limit"]) == (3.0, 5)


async def test_the_last_change_leads_to_its_decision_and_that_is_decided_again(
    opened: Opened, state: State
) -> None:
    seen = BreakerSeen(
        at=T0, model=CHAT, before=CLOSED, policy=BreakerPolicy(), happened=Ends("bbbbb")
    )
    journal: Any = state.decisions
    (number,) = await journal.open("breakers", [decide_breaker(seen)], T0, 1)
    told = await rows(opened, state, through(Guard({CHAT: OPEN})))
    client = await opened(state)

    found = await (await client.get(f"/api/v1/decisions/{number}")).json()

    assert told[CHAT]["last"]["id"] == number
    assert told[SMALL]["last"] is None
    assert found["replay"] == "identical"


async def test_an_ejection_shorter_than_a_load_warns(opened: Opened, state: State) -> None:
    told = await rows(opened, state, through(Guard({})))
    assert not told[CHAT]["flaps"]
    catalogue = state.in_force.catalogue
    model = catalogue.models[CHAT]
    short = replace(model.policy, breaker=BreakerPolicy(ejection_s=1.0))
    models = {**catalogue.models, CHAT: replace(model, policy=short)}
    state.in_force.catalogue = replace(catalogue, models=models)
    state.shared.forget("breakers")

    told = await rows(opened, state, through(Guard({})))

    assert told[CHAT]["flaps"]
    assert told[CHAT]["ejection_s"] == 1.0


async def test_what_nobody_counts_says_why(opened: Opened, state: State, client: Client) -> None:
    bypassed = {row["model"]: row for row in await (await client.get("/api/v1/breakers")).json()}
    state.shared.forget("breakers")
    starting = await rows(opened, state, through(Guard(None)))
    state.shared.forget("breakers")
    by_hand = await rows(opened, state, through(Guard({}, counts=False)))

    assert (bypassed[CHAT]["state"], bypassed[CHAT]["why"]) == (None, "NotCounted")
    assert (starting[CHAT]["state"], starting[CHAT]["why"]) == (None, "Unreachable")
    assert (by_hand[CHAT]["state"], by_hand[CHAT]["failures"]["why"]) == ("closed", "ByHandAlone")


async def test_breakers_are_narrowed_and_come_as_a_table(opened: Opened, state: State) -> None:
    client = await opened(state, door=through(Guard({CHAT: OPEN})))

    found = await (await client.get("/api/v1/breakers?state=open")).json()
    text = await (await client.get("/api/v1/breakers.csv")).text()

    assert [row["model"] for row in found] == [CHAT]
    lines = {line["model"]: line for line in csv.DictReader(StringIO(text))}
    assert (lines[CHAT]["state"], lines[SMALL]["failures"]) == ("open", "0.0")
    assert (await client.get("/api/v1/breakers?state=ajar")).status == 400
    assert (await client.get("/api/v1/breakers?model=unheard")).status == 404


async def test_what_the_balancer_runs_with_is_compared_with_what_is_rendered(
    opened: Opened, state: State, client: Client
) -> None:
    door = await opened(state, door=through(Guard({})))
    starting = await opened(state, door=through(Guard(None)))
    at = "/api/v1/breakers/chat/settings"

    told = (await (await door.get(at)).json())["clusters"]
    none = await (await client.get(at)).json()
    late = await (await starting.get(at)).json()

    assert [(one["live"] is None, one["lines"]) for one in told] == [
        (False, ["@@ -1,3 +1,3 @@", " a", "-x", "+b", " c"]),
        (False, []),
        (True, []),
    ]
    assert (none["clusters"], none["why"]) == ([], "NoBalancer")
    assert (late["clusters"], late["why"]) == ([], "Unreachable")
    assert (await client.get("/api/v1/breakers/nobody/settings")).status == 404


async def test_an_open_breaker_needs_attention(opened: Opened, state: State) -> None:
    client = await opened(state, door=through(Guard({CHAT: OPEN})))

    fleet = await (await client.get("/api/v1/fleet")).json()

    (row,) = [one for one in fleet["attention"] if one["code"] == "BreakerOpened"]
    assert (row["subject"], row["severity"], row["since"]) == (CHAT, "bad", T0 - 40.0)


async def test_a_model_is_isolated_with_its_reason_and_let_in_again(
    opened: Opened, state: State
) -> None:
    client = await opened(state, door=through(Guard({})))
    body = {"verb": "isolate", "reason": "corrupt weights"}

    shown = await (await client.get(f"{AT}/chat/preview", params={"verb": "isolate"})).json()
    assert await state.overrides.overrides() == {}
    made = await client.post(f"{AT}/chat", json=body)
    held = (await state.overrides.overrides())[CHAT]
    fleet = await (await client.get("/api/v1/fleet")).json()
    back = await client.post(f"{AT}/chat", json={"verb": "rejoin"})

    assert shown["changes"] is True
    assert shown["refused_per_s"]["value"] == 20.0  # what arrives now
    assert (made.status, back.status) == (200, 200)
    assert held.isolated is not None
    assert (held.isolated.by, held.isolated.why) == ("local", "corrupt weights")
    (row,) = [one for one in fleet["attention"] if one["code"] == "Isolated"]
    assert row["subject"] == CHAT
    assert await state.overrides.overrides() == {}
    told = [(e.who, e.what, e.detail, e.ending) for e in await state.audit.entries()]
    assert told == [
        ("local", "rejoin", "", "done"),
        ("local", "isolate", "corrupt weights", "done"),
    ]


async def test_isolating_leaves_a_pause_and_a_pin_as_they_are(client: Client, state: State) -> None:
    for body in ({"verb": "pin", "replicas": 3}, {"verb": "pause"}, {"verb": "isolate"}):
        assert (await client.post(f"{AT}/chat", json=body)).status == 200

    held = (await state.overrides.overrides())[CHAT]
    assert (held.paused, held.pinned, held.isolated is not None) == (True, 3, True)


async def test_a_viewer_isolates_nobody(opened: Opened, state: State) -> None:
    viewer = await a_token(state, Role.VIEWER)
    client = await opened(state)

    refused = await client.post(f"{AT}/chat", json={"verb": "isolate"}, headers=viewer)

    assert refused.status == 403
    assert await state.overrides.overrides() == {}


async def test_what_cannot_be_isolated_is_said_in_one_sentence(client: Client) -> None:
    whole = await client.post(f"{AT}/*", json={"verb": "isolate"})
    unknown = await client.post(f"{AT}/nobody", json={"verb": "isolate"})
    wordy = await client.post(f"{AT}/chat", json={"verb": "isolate", "reason": "x" * 201})
    misplaced = await client.post(f"{AT}/chat", json={"verb": "pause", "reason": "tired"})

    assert [answer.status for answer in (whole, unknown, wordy, misplaced)] == [400, 404, 400, 400]
    assert "nobody isolates a whole fleet" in (await whole.json())["detail"]
    assert "belongs to isolate only" in (await misplaced.json())["detail"]


async def test_overrides_as_a_table_have_the_same_columns_whatever_is_set(
    client: Client, state: State
) -> None:
    out = Isolation(by="ops", at=T0, why="corrupt weights")
    await state.overrides.put(Override(subject=CHAT, isolated=out, by="ops", at=T0))
    await state.overrides.put(Override(subject=SMALL, paused=True, by="ops", at=T0))

    text = await (await client.get("/api/v1/overrides.csv")).text()

    chat, small = csv.DictReader(StringIO(text))
    assert (chat["isolated_by"], chat["isolated_why"]) == ("ops", "corrupt weights")
    assert (small["isolated_by"], small["paused"]) == ("", "true")
