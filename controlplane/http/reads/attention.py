"""What a person should look at now, each with its reason: the answer at 3 a.m.

Broken promises come from the samples, obstacles from the newest decision's trail, the rest from
replicas, nodes, loops and the catalogue. Since when is remembered from one look to the next.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec

from controlplane.domain.decisions import Ending
from controlplane.domain.fleet import FleetView
from controlplane.domain.overrides import FLEET, Isolation, Overrides
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.domain.replicas import Phase
from controlplane.domain.samples import Absence, NoData
from controlplane.http.reads.latest import NONE_WRITTEN, Written
from controlplane.http.reads.shapes.fleet import Attention, Severity
from controlplane.http.reads.shapes.models import ModelRow
from controlplane.http.state import State
from controlplane.ports import DecisionRow

OBSTACLES: Mapping[ReasonCode, Severity] = {
    ReasonCode.NO_CLASS_FITS: "bad",
    ReasonCode.NO_DEVICES: "bad",
    ReasonCode.INVENTORY_UNKNOWN: "bad",
    ReasonCode.SIGNALS_UNKNOWN: "warn",
    ReasonCode.NO_DEVICE_FREE: "warn",
    ReasonCode.CLASS_SHORT: "warn",
    ReasonCode.LOST_TO: "warn",
    ReasonCode.OWNED_BY_ANOTHER: "bad",
    ReasonCode.WORKLOAD_REFUSED: "bad",
    ReasonCode.ROLLOUT_STUCK: "bad",
}
"""Codes of a trail that a person may have to lift, and how bad each is."""

UNKNOWN_FOR_S = 90.0  # steady rates take a minute after a start: until then nothing is amiss
LASTS_S: Mapping[ReasonCode, float] = {
    ReasonCode.NONE_SERVES: 30.0,
    ReasonCode.NOBODY_LEADS: 20.0,  # longer than it takes to follow a leader that died
    ReasonCode.ACTION_REFUSED: 10.0,  # somebody else wrote first: the next cycle sees it
}
"""What passes by itself within so long is nobody's business."""
DECISION_FRESH_S = 60.0  # an obstacle nobody met again for so long is no obstacle now


class Memory:
    """Since when each thing stands, and since when nothing does."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._since: dict[tuple[str, ReasonCode], Instant] = {}
        self.quiet_since: Instant | None = None

    def remember(self, found: Iterable[Attention], now: Instant) -> tuple[Attention, ...]:
        """Date what was found by its first sight, worst and oldest first."""
        rows: dict[tuple[str, ReasonCode], Attention] = {}
        for row in found:
            rows.setdefault((row.subject, row.code), row)
        self._since = {key: min(self._since.get(key, now), rows[key].since) for key in rows}
        lasting = {k: r for k, r in rows.items() if now - self._since[k] >= LASTS_S.get(r.code, 0)}
        if lasting:
            self.quiet_since = None
        elif self.quiet_since is None:
            self.quiet_since = now
        dated = (msgspec.structs.replace(r, since=self._since[k]) for k, r in lasting.items())
        return tuple(sorted(dated, key=_worst_first))


def _worst_first(row: Attention) -> tuple[Severity, bool, Instant, str]:
    # What is amiss with the whole fleet is often why the models' rows are there.
    return row.severity, row.subject != FLEET, row.since, row.subject


def attention(
    state: State,
    rows: Sequence[ModelRow],
    newest: Mapping[str, DecisionRow],
    overrides: Overrides,
    written: Written = NONE_WRITTEN,
    opened: Mapping[ModelName, Instant] = MappingProxyType({}),
) -> tuple[Attention, ...]:
    """Give everything that needs a look, worst first; `opened` are breakers, and since when."""
    now = state.clock.now()
    memory = state.shared.thing("attention", Memory)
    found = (
        *_broken(rows, now),
        *_obstacles(newest, now),
        *_obstacles(written.standing, now),
        *_refused(written.acted, now),
        *_refused(written.standing, now),
        *_unserved(rows, now),
        *_no_nodes(state.history.view, now),
        *_replicas(state.history.view, now),
        *_daemon(state, now),
        *(_row(name, "bad", ReasonCode.BREAKER_OPENED, (), at) for name, at in opened.items()),
        *_people(overrides),
    )
    return memory.remember(found, now)


def _broken(rows: Sequence[ModelRow], now: Instant) -> Iterator[Attention]:
    """Promises that are being broken."""
    for row in rows:
        decision = row.last.id if row.last else None
        for of_class in row.classes:
            for name, code, seen in (
                ("wait_p99", ReasonCode.WAIT_P99_BROKEN, of_class.wait_p99),
                ("latency_p99", ReasonCode.LATENCY_P99_BROKEN, of_class.latency_p99),
                ("turned_away", ReasonCode.TURNED_AWAY, of_class.turned_away),
            ):
                if seen.beyond:
                    evidence = Evidence(
                        f"{name}_{of_class.priority}", seen.value, seen.limit, seen.unit
                    )
                    yield _row(row.name, "bad", code, (evidence,), now, decision)


def _obstacles(newest: Mapping[str, DecisionRow], now: Instant) -> Iterator[Attention]:
    """What kept the newest decisions from what the load asks for."""
    for subject, decision in newest.items():
        if now - decision.last_at > DECISION_FRESH_S:
            continue
        spoken = [(reason.code, reason.evidence) for reason in decision.trail]
        refused = [(refusal.code, refusal.evidence) for refusal in decision.refused]
        for code, evidence in (*spoken, *refused):
            if code is ReasonCode.SIGNALS_UNKNOWN and now - decision.at < UNKNOWN_FOR_S:
                continue
            if code in OBSTACLES:
                yield _row(subject, OBSTACLES[code], code, evidence, decision.at, decision.id)


def _refused(newest: Mapping[str, DecisionRow], now: Instant) -> Iterator[Attention]:
    """What was decided and the cluster did not take."""
    for subject, decision in newest.items():
        fresh = now - decision.last_at <= DECISION_FRESH_S
        if fresh and decision.note and decision.ending in (Ending.REFUSED, Ending.FAILED):
            note = (Evidence("note", decision.note),)
            yield _row(subject, "bad", ReasonCode.ACTION_REFUSED, note, now, decision.id)


def _unserved(rows: Sequence[ModelRow], now: Instant) -> Iterator[Attention]:
    """Models that nobody serves and nobody is about to."""
    for row in rows:
        lanes = row.lanes
        if row.target and lanes is not None and not lanes.serving + lanes.warm + lanes.loading:
            wanted = (Evidence("target", row.target, None, "replicas"),)
            yield _row(row.name, "bad", ReasonCode.NONE_SERVES, wanted, now)


def _no_nodes(view: FleetView | None, now: Instant) -> Iterator[Attention]:
    """Nodes that may not be seen, or none of which has a card for anybody."""
    if view is None:
        return
    if isinstance(view.nodes, NoData):
        if view.nodes.why is not Absence.NOT_YET:
            why = (Evidence("nodes", view.nodes.note),) if view.nodes.note else ()
            yield _row(FLEET, "bad", ReasonCode.INVENTORY_UNKNOWN, why, now)
    elif not view.nodes:
        others = (Evidence("unknown", len(view.unknown)),) if view.unknown else ()
        yield _row(FLEET, "bad", ReasonCode.NO_NODES, others, now)


def _replicas(view: FleetView | None, now: Instant) -> Iterator[Attention]:
    """Pods that fail or find no place, nodes that are silent."""
    if view is None:
        return
    if not isinstance(view.nodes, NoData):
        for node in view.nodes:
            if not node.ready:
                silent = (Evidence("node", node.name),)
                yield _row(node.name, "bad", ReasonCode.NODE_SILENT, silent, now)
    for replica in view.replicas:
        evidence = (Evidence("replica", replica.name), Evidence("note", replica.note))
        if replica.phase is Phase.FAILED or replica.stuck:
            since = replica.lane_since
            yield _row(replica.model, "bad", ReasonCode.REPLICA_FAILED, evidence, since)
        elif replica.unschedulable_since is not None:
            since = replica.unschedulable_since
            yield _row(replica.model, "warn", ReasonCode.UNSCHEDULABLE, evidence, since)


def _daemon(state: State, now: Instant) -> Iterator[Attention]:
    """The daemon itself: nobody leads, loops are silent or fail, a catalogue was refused."""
    trouble = state.leadership.trouble
    if trouble and not state.leadership.leader:
        why = (Evidence("trouble", trouble),)
        yield _row(FLEET, "bad", ReasonCode.NOBODY_LEADS, why, now)
    for loop in silent_loops(state):
        yield _row(loop, "bad", ReasonCode.LOOP_SILENT, (Evidence("loop", loop),), now)
    for loop, beat in state.heartbeats.beats.items():
        if beat.failure:
            failed = (Evidence("loop", loop), Evidence("failure", beat.failure))
            yield _row(loop, "bad", ReasonCode.CYCLE_FAILED, failed, now)
    in_force = state.in_force
    if in_force.faults:
        evidence = (Evidence("faults", len(in_force.faults)),)
        since = in_force.refused_at or now
        yield _row("catalogue", "warn", ReasonCode.CATALOGUE_REFUSED, evidence, since)


def _people(overrides: Overrides) -> Iterator[Attention]:
    """What people stopped and may have forgotten."""
    for subject, override in overrides.items():
        if override.paused:
            evidence = (Evidence("by", override.by),)
            yield _row(subject, "warn", ReasonCode.PAUSED, evidence, override.at)
        if override.isolated is not None:
            yield _isolated(subject, override.isolated)


def _isolated(subject: str, out: Isolation) -> Attention:
    why = (Evidence("why", out.why),) if out.why else ()
    return _row(subject, "warn", ReasonCode.ISOLATED, (Evidence("by", out.by), *why), out.at)


def silent_loops(state: State) -> tuple[str, ...]:
    """Name the loops that should have been heard; heartbeats are in the event loop's time."""
    return tuple(state.heartbeats.silent(asyncio.get_running_loop().time()))


def _row(
    subject: str,
    severity: Severity,
    code: ReasonCode,
    evidence: tuple[Evidence, ...],
    since: Instant,
    decision: int | None = None,
) -> Attention:
    return Attention(
        subject=subject,
        severity=severity,
        code=code,
        evidence=evidence,
        since=since,
        decision=decision,
    )
