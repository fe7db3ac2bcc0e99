"""How many pods each Deployment should own: target, spares, what still drains, what is lost.

Spares grow only into devices that are free now; a target's growth was given its room by
arbitration. Unschedulable replicas are cancelled first.
"""

from controlplane.decide.spare.draft import Draft, of_class
from controlplane.domain.quantities import ClassName
from controlplane.domain.reasons import Evidence, ReasonCode, Refusal
from controlplane.domain.replicas import Lane, Replica


def replace_slow(draft: Draft) -> None:
    """Replace what has a node but is not warm within its limit (behaviour R2)."""
    limit = draft.seen.policy.load_limit_s
    for replica in list(draft.loading):
        if replica.unschedulable_since is None and draft.seen.at - replica.created_at >= limit:
            draft.delete(replica)
            draft.say(ReasonCode.LOAD_TOO_SLOW, "replica", replica.name)


def rotate(draft: Draft) -> None:
    """Replace a spare that is too old: grow one, wait until it is warm, drain the old one."""
    policy = draft.seen.policy
    if policy.rotate_s is None or not policy.count:
        return
    spares = [r for r in draft.warm if r.lane is Lane.WARM]
    old = [r for r in spares if draft.seen.at - r.created_at >= policy.rotate_s]
    if not old:
        return
    eldest = min(old, key=lambda r: (r.created_at, r.name))
    if len(spares) > policy.count:
        draft.flip(eldest, Lane.DRAINING)
        draft.say(ReasonCode.ROTATED, "replica", eldest.name)
    else:
        draft.rotating = 1


def leave_zone(draft: Draft) -> None:
    """Give up what does not serve in a lost zone, unless it may still be needed in service."""
    if len(draft.staying) < draft.seen.standing.replicas:
        return
    for replica in [*draft.loading, *draft.warm]:
        if replica.name in draft.leaving:
            draft.delete(replica)
            draft.say(ReasonCode.ZONE_LOST, "replica", replica.name)


def resize(draft: Draft) -> None:
    """Cancel what is too much, then size every Deployment; not while hardly a node is heard."""
    if draft.seen.hushed:
        if draft.lost:
            draft.say(ReasonCode.MOST_NODES_SILENT, "replicas", len(draft.lost))
        return
    spares = _spares(draft)
    loading, warm = of_class(draft.loading), of_class(draft.warm)
    serving, draining, lost = (of_class(x) for x in (draft.serving, draft.draining, draft.lost))
    for name in draft.classes:
        others = max(0, draft.deficit(name)) + spares.get(name, 0)
        surplus = loading[name] + warm[name] - others
        if surplus > 0:
            for replica in _cancellable(draft, name)[:surplus]:
                draft.delete(replica)
                draft.say(ReasonCode.SPARE_SURPLUS, "replica", replica.name)
        wanted = serving[name] + draining[name] + lost[name] + others
        grown = wanted - serving[name] - draining[name] - lost[name] - loading[name] - warm[name]
        if grown > 0 and not draft.victims.get(name):
            draft.say(_why_grown(draft, name), str(name), grown)
        draft.size(name, wanted)


def _why_grown(draft: Draft, name: ClassName) -> ReasonCode:
    gone = [r for r in draft.seen.replicas if r.node_class == name and r.node in draft.seen.lost]
    if gone:
        return ReasonCode.ZONE_LOST
    return ReasonCode.NODE_SILENT if of_class(draft.lost)[name] else ReasonCode.REFILLED


def _spares(draft: Draft) -> dict[ClassName, int]:
    """Place the spares wanted: where there are some, then where there is room, cheapest first."""
    left = draft.seen.policy.count + draft.rotating
    loading, warm = of_class(draft.loading), of_class(draft.warm)
    spares: dict[ClassName, int] = {}
    room = dict(draft.seen.room)
    for name in draft.classes:
        lacking = max(0, draft.deficit(name)) - loading[name] - warm[name]
        here = min(left, max(0, -lacking)) if draft.offered(name) else 0
        spares[name] = here
        left -= here
        room[name] = room.get(name, 0) - max(0, lacking)
    for name in draft.classes:
        if not left:
            break
        grown = min(left, max(0, room[name]))
        spares[name] += grown
        left -= grown
    if left:
        missing = Evidence("missing", left, None, "replicas")
        draft.refused.append(Refusal("spare", ReasonCode.NO_DEVICE_FREE, (missing,)))
    return spares


def _cancellable(draft: Draft, name: ClassName) -> list[Replica]:
    """Give what may be deleted at once: never scheduled first, then the youngest, then warm.

    While a changed template is rolled out, those made of the new one are not among them.
    """
    renewing = any(r.outdated for r in draft.seen.replicas if r.node_class == name)
    spared = [r for r in (*draft.loading, *draft.warm) if renewing and not r.outdated]
    loading = [r for r in draft.loading if r.node_class == name and r not in spared]
    loading.sort(key=lambda r: (r.unschedulable_since is None, -r.created_at, r.name))
    warm = [r for r in draft.warm if r.node_class == name and r not in spared]
    warm.sort(key=lambda r: (r.created_at, r.name))
    return loading + warm
