"""Placement's cycle: a small model that sits on a big card another model waits for is moved.

Moving is not done here. A move that is in force makes allocation shift the model's split from one
class to the other; the spare loop then grows the new replicas and drains the old ones only when the
new ones serve, so there are never fewer in service than wanted (behaviour P4).

A move stays in force while the card is needed, and a while longer (`CALM_S`), so that a model
does not go to and fro with the load of another.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from controlplane.decide.placement.berths import Berths
from controlplane.decide.placement.looks import Lookout, Waiting
from controlplane.decide.placement.squatting import Squatter, Squatting, decide_squatting, leaver
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Choice, Plan
from controlplane.domain.fleet import FleetView
from controlplane.domain.quantities import ClassName, Instant, ModelName
from controlplane.domain.samples import NoData

CALM_S = 600.0  # how long nobody must need the card before its old holder may come back
STUCK_S = 180.0  # how long a move may find no device where it wants to go


class PlacementSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One cycle's snapshot."""

    at: Instant
    view: FleetView
    plan: Plan
    waiting: Waiting = {}  # replicas a model wants and cannot get, by class


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """A move in force."""

    away_from: ClassName
    to: ClassName
    waiting: ModelName  # for whom
    since: Instant
    needed_at: Instant  # when the card was last waited for or held by that model


class PlacementMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What placement must remember over cycles and restarts (law 11)."""

    orders: Mapping[ModelName, Move] = {}
    rests: Mapping[ModelName, Instant] = {}  # not moved again before, after a move that got stuck

    @property
    def moves(self) -> Mapping[ModelName, tuple[ClassName, ClassName]]:
        """The moves in force as allocation honours them: away from, to."""
        return {model: (order.away_from, order.to) for model, order in self.orders.items()}


def cycle(
    seen: PlacementSeen, catalogue: Catalogue, memory: PlacementMemory
) -> tuple[tuple[Choice, ...], PlacementMemory]:
    """Decide who is to be moved; at most one model leaves for each waiting one in a cycle."""
    seen = msgspec.structs.replace(seen, waiting=_all_waiting(seen, memory))
    waiting = _in_order(seen, catalogue)
    if not waiting and not memory.orders:
        return (), memory
    nodes = seen.view.nodes
    if isinstance(nodes, NoData):  # the stated policy: hold, moves in force included (P1)
        looks = [_blind(seen, model, wants, str(nodes.why)) for model, wants in waiting.items()]
        return tuple(decide_squatting(look) for look in looks), memory
    view = seen.view
    berths = Berths(nodes, view.replicas, seen.plan, catalogue, memory.moves, view.others)
    memory = _kept(seen, berths, memory)
    berths.put(memory.moves)
    lookout = Lookout(seen.at, berths, catalogue, seen.waiting)
    choices: list[Choice] = []
    for model in waiting:
        passed_over = {*memory.rests, *memory.orders, *seen.waiting}
        looks = [lookout.look(want, passed_over) for want in lookout.wants(model)]
        going = next(((look, s) for look in looks if (s := leaver(look)) is not None), None)
        if going is not None:
            memory = _ordered(memory, *going)
            berths.put(memory.moves)
            lookout.leaves(going[1], going[0].node_class)
        lookout.give(model)
        said = going[0] if going else _noteworthy(looks)
        if said is not None:
            choices.append(decide_squatting(said))
    return tuple(choices), memory


def _all_waiting(seen: PlacementSeen, memory: PlacementMemory) -> Waiting:
    """Add those whose pods no node can take: a target's floor stands, devices or not."""
    stuck = Counter(
        (replica.model, replica.node_class)
        for replica in seen.view.replicas
        if replica.unschedulable_since is not None
        and replica.present
        and replica.model not in memory.orders
    )
    waiting = {model: dict(wants) for model, wants in seen.waiting.items()}
    for (model, node_class), count in stuck.items():
        wants = waiting.setdefault(model, {})
        wants[node_class] = max(count, wants.get(node_class, 0))
    return waiting


def _in_order(seen: PlacementSeen, catalogue: Catalogue) -> Waiting:
    """Those breaking their promises first, then the important."""

    def rank(model: ModelName) -> tuple[bool, int, ModelName]:
        standing = seen.plan.get(model)
        broken = standing.slo_broken if standing is not None else False
        return (not broken, catalogue.models[model].importance, model)

    known = [
        m for m, wants in seen.waiting.items() if m in catalogue.models and any(wants.values())
    ]
    return {model: seen.waiting[model] for model in sorted(known, key=rank)}


def _blind(
    seen: PlacementSeen, model: ModelName, wants: Mapping[ClassName, int], why: str
) -> Squatting:
    name = min(name for name, wanted in wants.items() if wanted)
    return Squatting(
        at=seen.at,
        waiting=model,
        target=seen.plan[model].replicas if model in seen.plan else 0,
        node_class=name,
        wanted=wants[name],
        devices=1,
        inventory=why,
    )


def _noteworthy(looks: Sequence[Squatting]) -> Squatting | None:
    """Give the look that moved nobody but is worth a row; scaling says already what is short."""
    if looks and not any(look.there for look in looks):
        return looks[0]
    return next((look for look in looks if any(s.refused for s in look.squatters)), None)


def _ordered(memory: PlacementMemory, look: Squatting, leaving: Squatter) -> PlacementMemory:
    if leaving.to is None:
        return memory
    move = Move(
        away_from=look.node_class,
        to=leaving.to,
        waiting=look.waiting,
        since=look.at,
        needed_at=look.at,
    )
    return msgspec.structs.replace(memory, orders={**memory.orders, leaving.model: move})


def _kept(seen: PlacementSeen, berths: Berths, memory: PlacementMemory) -> PlacementMemory:
    """Keep the moves that are still needed or were a short while ago, and that can be made."""
    orders: dict[ModelName, Move] = {}
    rests = {model: until for model, until in memory.rests.items() if until > seen.at}
    for model, order in memory.orders.items():
        if berths.devices(model, order.to) is None:
            continue  # the catalogue changed: it fits there no more
        if _stuck(seen.at, model, order, berths):
            rests[model] = seen.at + CALM_S
            continue
        if _needed(seen, order):
            orders[model] = msgspec.structs.replace(order, needed_at=seen.at)
        elif seen.at - order.needed_at < CALM_S:
            orders[model] = order
    return PlacementMemory(orders=orders, rests=rests)


def _needed(seen: PlacementSeen, order: Move) -> bool:
    standing = seen.plan.get(order.waiting)
    holds = standing is not None and standing.split.get(order.away_from, 0) > 0
    return holds or seen.waiting.get(order.waiting, {}).get(order.away_from, 0) > 0


def _stuck(at: Instant, model: ModelName, order: Move, berths: Berths) -> bool:
    """Say whether a move found its destination full and has nothing to show for it yet."""
    return (
        at - order.since >= STUCK_S
        and bool(berths.seated(model, order.away_from))
        and not berths.seated(model, order.to)
        and not berths.room(model, order.to)
    )
