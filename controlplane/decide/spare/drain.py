"""Out of service without cutting a stream: unlabel, wait for in-flight 0 or the deadline, delete.

Victims have the fewest requests in flight, are the coldest, and are not the last of their zone.
A replica is drained only while more serve than the target wants, so a move to another class never
leaves fewer serving than wanted (behaviour P4).
"""

from collections import Counter

from controlplane.decide.spare.draft import Draft
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.replicas import Lane, Replica
from controlplane.domain.samples import number


def start_drains(draft: Draft) -> None:
    """Take what is too much out of service, to the spares where one is missing."""
    surplus = len(draft.serving) - draft.seen.standing.replicas
    while surplus > 0:
        victim = _victim(draft)
        if victim is None:
            return
        # A class that placement or a spill is leaving keeps no spare, nor does one that is gone.
        stays = (
            draft.offered(victim.node_class)
            and draft.seen.standing.split.get(victim.node_class, 0) > 0
            and victim.name not in draft.leaving
        )
        if stays and len(draft.warm) < draft.seen.policy.count:
            draft.flip(victim, Lane.WARM)
            draft.say(ReasonCode.BECAME_WARM, "replica", victim.name)
        else:
            draft.flip(victim, Lane.DRAINING)
            draft.say(ReasonCode.DRAIN_STARTED, "replica", victim.name)
        surplus -= 1


def finish_drains(draft: Draft) -> None:
    """Delete what has drained, or has had its time."""
    limit = draft.seen.policy.drain_limit_s
    for replica in list(draft.draining):
        if replica.lane is not Lane.DRAINING:
            continue  # unlabelled in this cycle; nobody has looked yet
        if number(replica.in_flight) == 0:
            draft.delete(replica)
            draft.say(ReasonCode.DRAINED, "replica", replica.name)
        elif draft.seen.at - replica.lane_since >= limit:
            draft.delete(replica)
            draft.say(ReasonCode.DRAIN_DEADLINE, "replica", replica.name)


def _victim(draft: Draft) -> Replica | None:
    """Choose in a lost zone, else from the classes that have more than their part."""
    over = [r for r in draft.serving if r.name in draft.leaving]
    over = over or [r for r in draft.serving if draft.deficit(r.node_class) < 0]
    zones = Counter(r.zone for r in draft.serving)
    return min(
        over,
        key=lambda r: (
            zones[r.zone] == 1 and len(zones) > 1,  # not the last of its zone
            not r.outdated,
            number(r.in_flight) or 0.0,
            -r.lane_since,
            r.name,
        ),
        default=None,
    )
