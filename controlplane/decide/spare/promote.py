"""Into service: warm-up batches, promotion, and what is awake or asleep.

A replica may be promoted only after its health adapter says ready AND its warm-up batch succeeded
(law 7). Promotion is cheap and reversible, so nothing limits it but what is warm.
"""

from controlplane.decide.spare.draft import Draft
from controlplane.domain.actions import Lend, Sleep, Wake, WarmUp
from controlplane.domain.quantities import ClassName
from controlplane.domain.reasons import Evidence, ReasonCode, Refusal
from controlplane.domain.replicas import Lane, Replica
from controlplane.domain.samples import number

COLD_FACTOR = 2.5  # the first requests of an engine take 2 to 3 times as long


def take_back_restarted(draft: Draft) -> None:
    """Take an engine that began anew out of service: it is as cold as on its first day (law 7)."""
    for replica in draft.restarted:
        draft.flip(replica, Lane.LOADING)
        draft.say(ReasonCode.ENGINE_RESTARTED, "replica", replica.name)


def start_warm_ups(draft: Draft) -> None:
    """Send every healthy, loading replica its batch, once."""
    for replica in draft.loading:
        if replica.healthy and not replica.warming_up:
            requests = _batch(draft, replica)
            draft.actions.append(WarmUp(replica=replica.name, requests=requests))
            draft.say(ReasonCode.WARM_UP_STARTED, "replica", replica.name)


def _batch(draft: Draft, replica: Replica) -> int:
    """Give the batch's size: as set, but no more than a cold engine answers within the limit."""
    policy = draft.seen.policy
    for facts in draft.seen.variants:
        if facts.node_class == replica.node_class:
            per_slot = int(policy.warmup_limit_s / (COLD_FACTOR * facts.service_s))
            return min(policy.warmup_requests, facts.slots * max(1, per_slot))
    return policy.warmup_requests


def promote(draft: Draft) -> None:
    """Fill what each class lacks, then what the target lacks in all."""
    for name in draft.classes:
        for replica in _ready_on(draft, name)[: max(0, draft.deficit(name))]:
            _into_service(draft, replica)
    for replica in _ready(draft):
        if len(draft.staying) >= draft.seen.standing.replicas:
            break
        _into_service(draft, replica)
    for replica in _ready(draft, leaving=True):  # better there than not at all
        if len(draft.serving) >= draft.seen.standing.replicas:
            break
        _into_service(draft, replica)
    missing = draft.seen.standing.replicas - len(draft.staying)
    if missing > 0:
        loading = Evidence("loading", len(draft.loading), missing, "replicas")
        draft.refused.append(Refusal("promote", ReasonCode.NONE_WARM, (loading,)))


def renew(draft: Draft) -> None:
    """Let a warm replica of the current template take the place of one of a template before it.

    So a rollout ends replicas that have drained, and there is never one fewer in service.
    """
    for name in draft.classes if any(r.outdated for r in draft.serving) else ():
        old = [r for r in draft.serving if r.outdated and r.node_class == name]
        old.sort(key=lambda r: (number(r.in_flight) or 0.0, r.name))
        current = [r for r in _ready_on(draft, name) if not r.outdated]
        for leaves, comes in zip(old, current, strict=False):
            _into_service(draft, comes)
            if comes in draft.serving:
                draft.flip(leaves, Lane.DRAINING)
                draft.say(ReasonCode.ROTATED, "replica", leaves.name)


def label_warm(draft: Draft) -> None:
    """Label what is warmed up and not needed in service yet."""
    for replica in list(draft.warm):
        if replica.lane is Lane.LOADING:
            draft.flip(replica, Lane.WARM)
            draft.say(ReasonCode.BECAME_WARM, "replica", replica.name)


def lend(draft: Draft) -> None:
    """Give low a part of a lending spare's slots, and take back what is lent no more."""
    for replica in draft.warm:
        if replica.lane is not Lane.WARM:
            continue  # labelled this cycle; lends from the next
        share = _lends(draft, replica)
        if replica.lent_slots != share:
            draft.actions.append(Lend(replica=replica.name, slots=share))
            draft.say(ReasonCode.LENT, "slots", share)


def _lends(draft: Draft, spare: Replica) -> int:
    policy = draft.seen.policy
    if policy.kind == "lending":
        for facts in draft.seen.variants:
            if facts.node_class == spare.node_class:
                return int(policy.lend_share * facts.slots)
    return 0


def well_kept(draft: Draft, spare: Replica) -> bool:
    """Say whether a spare is as the policy wants it, and may stay so."""
    seen, policy = draft.seen, draft.seen.policy
    return (
        spare.lane is Lane.WARM
        and draft.offered(spare.node_class)
        and (policy.rotate_s is None or seen.at - spare.created_at < policy.rotate_s)
        and spare.lent_slots == _lends(draft, spare)
        and (spare.sleeping or policy.kind != "sleeping")
    )


def put_to_sleep(draft: Draft) -> None:
    """Let sleeping spares sleep."""
    if draft.seen.policy.kind != "sleeping":
        return
    for replica in draft.warm:
        if replica.lane is Lane.WARM and not replica.sleeping:
            draft.actions.append(Sleep(replica=replica.name))
            draft.say(ReasonCode.PUT_TO_SLEEP, "replica", replica.name)


def _ready(draft: Draft, *, leaving: bool = False) -> list[Replica]:
    """Give what may be promoted: of the current template first, awake ones, then the oldest."""
    ready = [r for r in draft.warm if (r.name in draft.leaving) == leaving and _answers(r)]
    if len(ready) < 2:
        return ready
    return sorted(ready, key=lambda r: (r.outdated, r.sleeping, r.created_at, r.name))


def _answers(replica: Replica) -> bool:
    """Say whether it would get requests and answer them; one that sleeps is asked once awake."""
    return replica.sleeping or (replica.healthy and replica.ready)


def _ready_on(draft: Draft, name: ClassName) -> list[Replica]:
    return [r for r in _ready(draft) if r.node_class == name] if draft.warm else []


def _into_service(draft: Draft, replica: Replica) -> None:
    if replica.sleeping:  # awake by the next cycle, promoted then
        draft.actions.append(Wake(replica=replica.name))
        draft.warm.remove(replica)
        draft.say(ReasonCode.WOKEN, "replica", replica.name)
        return
    draft.flip(replica, Lane.SERVING)
    draft.say(ReasonCode.PROMOTED, "replica", replica.name)
