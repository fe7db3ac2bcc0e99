"""Words that templates cannot spell out themselves: absences, changes, titles of drawings."""

from collections.abc import Mapping, Sequence
from typing import Any

from controlplane.domain.overrides import FLEET
from controlplane.domain.reasons import Evidence, Reason, ReasonCode
from controlplane.http.pages.language import translations
from controlplane.http.reads.shapes.decisions import DecisionLine, Rung
from controlplane.http.reads.shapes.fleet import DeviceCell, NodeRow
from controlplane.http.reads.shapes.models import LaneCounts
from controlplane.render.sentences import account, clause, headline, pair, quantity

AFTER: Mapping[ReasonCode, str] = {
    ReasonCode.BREAKER_OPENED: "open",
    ReasonCode.BREAKER_PROBING: "half-open",
    ReasonCode.BREAKER_REOPENED: "open",
    ReasonCode.BREAKER_CLOSED: "closed",
    ReasonCode.ISOLATED: "isolated",
    ReasonCode.REJOINED: "closed",
}
"""The state a breaker is in after each of its changes."""


def deciding(line: DecisionLine) -> Reason:
    """Give the reason to name beside a decision: what asked for a change, or what held it."""
    found = account(line.current, line.target, line.trail)
    if found is None:
        return line.reason
    return found.hold if found.hold and line.current == line.target else found.cause


class Words:
    """Everything said in one language."""

    def __init__(self, language: str) -> None:
        """Take the language's messages."""
        messages = translations(language)
        self._language = language
        self._one = messages.gettext
        self._many = messages.ngettext

    def absence(self, why: str | None) -> str:
        """Say why there is no figure."""
        _ = self._one
        said: Mapping[str | None, str] = {
            "Empty": _("The query matched nothing."),
            "Unreachable": _("The source does not answer."),
            "Forbidden": _("Access to the source is forbidden."),
            "TooFew": _("Too few replicas answered to speak for all."),
            "Idle": _("There were no requests, so there is no percentile."),
            "NotExported": _("The engine does not export this signal."),
            "TooCoarse": _("The engine's buckets are too coarse to tell."),
            "NotYet": _("Nothing was asked so far."),
            "Stale": _("The last answer is too old."),
            "Bad": _("The answer was no usable number."),
            "NotCounted": _("No front door of this daemon: nobody counts it here."),
            "NoBalancer": _("There is no Envoy of this daemon before its replicas."),
            "NotNow": _("Nothing is counted while its requests are refused."),
            "ByHandAlone": _(
                "The simulated world counts no failures: only people isolate a model."
            ),
            "NoObjective": _("No promise is set for this model."),
            "NoCapacity": _("Requests wait and nothing serves them."),
        }
        return said.get(why, _("Unknown."))

    def subject(self, name: str) -> str:
        """Name what a decision or an attention row is about."""
        _ = self._one
        said = {FLEET: _("the fleet"), "catalogue": _("catalogue")}
        return said.get(name, name)

    def priority(self, name: str) -> str:
        """Name a priority class."""
        _ = self._one
        return {"high": _("high"), "medium": _("medium"), "low": _("low")}.get(name, name)

    def lane(self, name: str) -> str:
        """Name a lane of a replica."""
        _ = self._one
        said = {
            "serving": _("serving"),
            "warm": _("warm"),
            "loading": _("loading"),
            "draining": _("draining"),
            "sleeping": _("sleeping"),
            "lost": _("lost"),
            "idle": _("idle"),
            "cross-zone": _("cross-zone"),
        }
        return said.get(name, name)

    def stage(self, name: str) -> str:
        """Say what a loading replica is busy with."""
        _ = self._one
        said = {
            "Unscheduled": _("waits for a device"),
            "Pulling": _("pulls its image"),
            "LoadingModel": _("loads its weights"),
            "WarmingUp": _("warms up"),
            "Up": _("up"),
        }
        return said.get(name, name)

    def ending(self, name: str) -> str:
        """Say how acting on a decision ended."""
        _ = self._one
        said = {
            "open": _("under way"),
            "done": _("done"),
            "refused": _("refused by the cluster"),
            "failed": _("failed"),
            "advised": _("advised, not done"),
            "paused": _("paused, not done"),
            "settled": _("settled after a restart"),
        }
        return said.get(name, name)

    def loop(self, name: str) -> str:
        """Name a loop."""
        _ = self._one
        said = {
            "scaling": _("scaling"),
            "spare": _("spare"),
            "placement": _("placement"),
            "metering": _("metering"),
            "breakers": _("breakers"),
            "catalogue": _("catalogue"),
        }
        return said.get(name, name)

    def breaker(self, state: str) -> str:
        """Name the state of a breaker."""
        _ = self._one
        said = {
            "closed": _("closed"),
            "open": _("open"),
            "half-open": _("half-open"),
            "isolated": _("isolated"),
        }
        return said.get(state, state)

    def change(self, line: DecisionLine) -> str:
        """Say what a decision did to the figure."""
        _ = self._one
        if line.loop == "spare":
            return _("%(a)s of %(b)s") % {"a": line.current, "b": line.target}
        if line.loop == "breakers":
            return self.breaker(AFTER.get(line.reason.code, ""))
        if line.current == line.target:
            return _("held at %(n)s") % {"n": line.target}
        return f"{line.current} → {line.target}"

    def evidence(self, name: str) -> str:
        """Name one thing that was seen."""
        _ = self._one
        said = {
            "drain": _("drain time"),
            "queue": _("waiting"),
            "throughput": _("throughput"),
            "work": _("work"),
            "offered_load": _("offered load"),
            "memory": _("memory"),
            "utilisation": _("utilisation"),
            "depth": _("queue depth"),
            "turned_away": _("turned away"),
            "wanted": _("wanted"),
            "window": _("window"),
            "covered": _("covered"),
            "highest_wish": _("highest wish"),
            "since_change": _("since the last change"),
            "need": _("memory needed"),
            "devices": _("devices"),
            "by": _("by"),
            "cold": _("cold starts"),
        }
        kind, _sep, priority = name.rpartition("_")
        timed = {"wait_p99": _("P99 wait"), "latency_p99": _("P99 latency")}
        if kind in timed:
            return f"{timed[kind]}, {self.priority(priority)}"
        return said.get(name, name.replace("_", " "))

    def seen(self, one: Evidence) -> str:
        """Write one thing that was seen; units that are words are words of the language."""
        _ = self._one
        said = {
            "slots": _("%(n)s slots"),
            "/s per replica": _("%(n)s/s per replica"),
            "per replica": _("%(n)s per replica"),
        }
        form = said.get(one.unit)
        return form % {"n": quantity(one.value, "", 2)} if form else pair(one)[0]

    def note(self, note: str) -> str:
        """Word the notes the loops leave; whatever else somebody noted stays as it is."""
        _ = self._one
        return {"in force": _("in force")}.get(note, note)

    def effect(self, rung: Rung) -> str:
        """Say what a rule did to the figure."""
        _ = self._one
        said = {
            "raised": _("raises to %(n)s"),
            "lowered": _("lowers to %(n)s"),
            "spoke": _("leaves it at %(n)s"),
        }
        return said[rung.effect] % {"n": rung.after}

    def action(self, action: Mapping[str, Any]) -> str:
        """Say what was to be done."""
        _ = self._one
        said = {
            "SetTarget": _("target %(replicas)s for %(model)s"),
            "SetReplicas": _("Deployment %(model)s on %(node_class)s: %(count)s"),
            "SetLane": _("%(replica)s to lane %(lane)s"),
            "WarmUp": _("%(requests)s warm-up requests to %(replica)s"),
            "Sleep": _("%(replica)s sleeps"),
            "Wake": _("%(replica)s wakes"),
            "Lend": _("%(replica)s lends %(slots)s slots"),
            "Ensure": _("%(kind)s %(name)s as the catalogue says"),
            "Remove": _("%(replica)s is deleted"),
        }
        form = said.get(str(action.get("type")))
        return form % action if form else str(action.get("type", ""))

    def because(self, line: DecisionLine) -> str:
        """Say why, in a few words; a hold counts how often it was repeated."""
        ngettext = self._many
        reason = deciding(line)
        said = clause(reason.code, reason.evidence, self._language)
        if line.repeats and line.current == line.target:
            count = line.repeats + 1
            held = ngettext("%(num)s hold: %(said)s", "%(num)s holds: %(said)s", count)
            return held % {"num": quantity(count, ""), "said": said}
        return said

    def headline(self, line: DecisionLine) -> str:
        """Say a whole decision in one line."""
        return headline(line.subject, line.current, line.target, line.trail, self._language)

    def cell_title(self, cell: DeviceCell) -> str:
        """Say all about one device."""
        _ = self._one
        if cell.foreign:
            return _("device %(index)s: held by a pod of others") % {"index": cell.index}
        if cell.model is None:
            return _("device %(index)s: free") % {"index": cell.index}
        lane = "lost" if cell.lost else "sleeping" if cell.sleeping else cell.lane or ""
        stage = f", {self.stage(cell.stage)}" if cell.lane == "loading" and cell.stage else ""
        return _("%(model)s, %(lane)s%(stage)s: %(held)s held (%(share)s %%), %(replica)s") % {
            "model": cell.model,
            "lane": self.lane(lane),
            "stage": stage,
            "held": quantity(cell.held_gib, "GiB"),
            "share": round(cell.fill * 100),
            "replica": cell.replica or "",
        }

    def node_title(self, node: NodeRow) -> str:
        """Say in words what a node's cells show."""
        _ = self._one
        held: dict[str, int] = {}
        for cell in node.devices:
            holder = cell.model or (_("held by others") if cell.foreign else _("free"))
            held[holder] = held.get(holder, 0) + 1
        listed = ", ".join(f"{count} {name}" for name, count in held.items())
        return f"{node.name}, {node.zone}: {listed}"

    def lanes_title(self, counts: LaneCounts) -> str:
        """Say in words what the stacked bar of lanes shows."""
        parts = [
            (counts.serving, "serving"),
            (counts.warm - counts.sleeping, "warm"),
            (counts.sleeping, "sleeping"),
            (counts.loading, "loading"),
            (counts.draining, "draining"),
            (counts.lost, "lost"),
        ]
        said = [f"{count} {self.lane(lane)}" for count, lane in parts if count]
        _ = self._one
        return ", ".join(said) or _("no replica")

    def names(self, names: Sequence[str]) -> str:
        """List a few names."""
        return ("、" if self._language == "zh" else ", ").join(names)
