"""What needs attention, since when, and since when nothing does."""

import asyncio
from dataclasses import replace

import msgspec
import pytest

from controlplane.clock import Clock
from controlplane.domain.decisions import Ending, Target
from controlplane.domain.fleet import FleetView
from controlplane.domain.overrides import FLEET, Override
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.domain.replicas import Phase
from controlplane.domain.samples import Absence, NoData
from controlplane.http.reads.attention import attention
from controlplane.http.reads.fleet import fleet
from controlplane.http.reads.latest import Written
from controlplane.http.reads.models import model_rows
from controlplane.http.reads.shapes.models import LaneCounts
from controlplane.http.state import State
from controlplane.loops.in_memory import SoleLeader
from controlplane.ports import DecisionQuery
from tests.builders import CHAT, a_replica
from tests.http.conftest import T0, a_view


async def test_attention_names_what_is_broken_and_since_when(state: State) -> None:
    found = (await fleet(state)).attention

    told = {(row.subject, row.code): row for row in found}
    broken = told[CHAT, ReasonCode.WAIT_P99_BROKEN]
    assert broken.severity == "bad"
    assert (broken.evidence[0].value, broken.evidence[0].limit) == (0.9, 0.8)
    assert told[CHAT, ReasonCode.UNSCHEDULABLE].since == T0 - 55
    assert found[0].severity == "bad"  # worst first


async def test_attention_covers_nodes_loops_catalogue_and_people(state: State) -> None:
    view = a_view()
    assert not isinstance(view.nodes, NoData)
    silent = msgspec.structs.replace(view.nodes[1], ready=False)
    failed = a_replica("chat-9", phase=Phase.FAILED, lane_since=T0 - 5, note="OOMKilled")
    state.history.view = FleetView(
        at=T0, nodes=(view.nodes[0], silent), replicas=(*view.replicas, failed)
    )
    now = asyncio.get_running_loop().time()
    state.heartbeats.beat("scaling", 5.0, now - 60.0)
    state.heartbeats.beat("spare", 5.0, now, failure="ValueError: no")
    state.in_force.faults, state.in_force.refused_at = ("fleet.yaml:3: x",), T0 - 9
    await state.overrides.put(Override(subject=FLEET, paused=True, by="ann", at=T0 - 99))

    told = {(row.subject, row.code): row.since for row in (await fleet(state)).attention}

    assert told["a100-02", ReasonCode.NODE_SILENT] == pytest.approx(T0, abs=1)
    assert told[CHAT, ReasonCode.REPLICA_FAILED] == T0 - 5
    assert ("scaling", ReasonCode.LOOP_SILENT) in told
    assert ("spare", ReasonCode.CYCLE_FAILED) in told
    assert told["catalogue", ReasonCode.CATALOGUE_REFUSED] == T0 - 9
    assert told["*", ReasonCode.PAUSED] == T0 - 99


@pytest.mark.parametrize(("seconds", "told"), [(30.0, False), (120.0, True)])
async def test_s1_unknown_signals_need_a_look_only_when_they_stay_so(
    state: State, seconds: float, told: bool
) -> None:
    """In the first minute after a start no steady rate can be known."""
    now = state.clock.now()
    (row,) = await state.decisions.decisions(DecisionQuery(subject=CHAT, limit=1))
    unknown = Target(3).note(ReasonCode.SIGNALS_UNKNOWN)
    held = msgspec.structs.replace(row, at=now - seconds, last_at=now, trail=unknown.trail)

    found = attention(state, (), {CHAT: held}, {})

    assert (ReasonCode.SIGNALS_UNKNOWN in {row.code for row in found}) is told


async def test_quiet_begins_when_the_last_trouble_ends(state: State) -> None:
    rows = await model_rows(state)
    attention(state, rows, {}, {})
    state.history.view = None

    assert (await fleet(state)).quiet_since is None  # chat still breaks its promise
    assert attention(state, (), {}, {}) == ()
    state.shared.forget("fleet")
    state.history.loads = {}
    state.shared.forget("models")
    found = await fleet(replace(state, heartbeats=type(state.heartbeats)()))

    assert [row.code for row in found.attention] == []
    assert found.quiet_since == pytest.approx(T0, abs=1)


async def test_a_cluster_without_cards_is_not_quiet(state: State) -> None:
    state.history.view = FleetView(at=T0, nodes=(), replicas=())

    told = {(row.subject, row.code) for row in (await fleet(state)).attention}

    assert (FLEET, ReasonCode.NO_NODES) in told


async def test_a_model_nobody_serves_is_told_once_it_lasts(state: State) -> None:
    (first, *_) = [row for row in await model_rows(state) if row.target]
    alone = msgspec.structs.replace(first, lanes=LaneCounts(), classes=())
    coming = msgspec.structs.replace(alone, lanes=LaneCounts(loading=1))

    state.history.view = None
    assert attention(state, [alone], {}, {}) == ()
    later = replace(state, clock=Clock(start=T0 + 31))
    (row,) = attention(later, [alone], {}, {})
    assert (row.code, row.severity) == (ReasonCode.NONE_SERVES, "bad")
    assert attention(later, [coming], {}, {}) == ()


@pytest.mark.parametrize("why", [Absence.FORBIDDEN, Absence.UNREACHABLE])
async def test_nodes_that_may_not_be_seen_are_no_quiet_and_the_command_is_told(
    state: State, why: Absence
) -> None:
    grants = "list nodes is forbidden to ann; this grants it: kubectl create clusterrole …"
    state.history.view = FleetView(at=T0, nodes=NoData(why, grants), replicas=())

    told = {(row.subject, row.code): row for row in (await fleet(state)).attention}

    row = told[FLEET, ReasonCode.INVENTORY_UNKNOWN]
    assert (row.severity, row.evidence) == ("bad", (Evidence("nodes", grants),))


async def test_before_the_first_look_nodes_that_are_not_known_are_no_trouble(state: State) -> None:
    state.history.view = FleetView(at=T0, nodes=NoData(Absence.NOT_YET), replicas=())

    assert ReasonCode.INVENTORY_UNKNOWN not in {r.code for r in attention(state, (), {}, {})}


async def test_where_nobody_can_be_elected_that_is_told_with_the_cause_once_it_lasts(
    state: State,
) -> None:
    nobody = SoleLeader("")
    nobody.trouble = "get leases is forbidden to ann; this grants it: kubectl create role …"
    before = replace(state, leadership=nobody, clock=Clock(start=T0))
    state.history.view = None

    assert attention(before, (), {}, {}) == ()
    (row,) = attention(replace(before, clock=Clock(start=T0 + 21)), (), {}, {})
    assert (row.subject, row.code, row.severity) == (FLEET, ReasonCode.NOBODY_LEADS, "bad")
    assert row.evidence == (Evidence("trouble", nobody.trouble),)
    nobody.leader = "cp-1"  # whom another heard of: it leads, though we cannot stand
    assert attention(replace(before, clock=Clock(start=T0 + 22)), (), {}, {}) == ()


async def test_what_the_cluster_refuses_cycle_after_cycle_needs_a_look(state: State) -> None:
    (row,) = await state.decisions.decisions(DecisionQuery(subject=CHAT, limit=1))
    note = "patch deployments chat-t4 is forbidden to ann; this grants it: kubectl create role …"
    state.history.view = None

    def after(seconds: float, ending: Ending) -> set[str]:
        later = replace(state, clock=Clock(start=T0 + seconds))
        at = T0 + seconds
        spare = msgspec.structs.replace(
            row, loop="spare", ending=ending, note=note, at=at, last_at=at, trail=()
        )
        return {r.code for r in attention(later, (), {}, {}, Written(acted={CHAT: spare}))}

    assert after(0, Ending.REFUSED) == set()  # somebody wrote first: the next cycle sees it
    assert after(11, Ending.REFUSED) == {ReasonCode.ACTION_REFUSED}
    assert after(16, Ending.DONE) == set()


async def test_what_cannot_stand_in_the_cluster_needs_a_look(state: State) -> None:
    now = state.clock.now()
    (row,) = await state.decisions.decisions(DecisionQuery(subject=CHAT, limit=1))
    refused = Target(5).note(ReasonCode.WORKLOAD_REFUSED)
    left = msgspec.structs.replace(
        row, loop="workloads", at=now - 300, last_at=now - 1, trail=refused.trail
    )

    found = attention(state, (), {}, {}, Written({CHAT: left}))

    assert (CHAT, ReasonCode.WORKLOAD_REFUSED) in {(row.subject, row.code) for row in found}
