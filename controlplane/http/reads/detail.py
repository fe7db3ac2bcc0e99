"""A model's page: where it can run, what is kept ready, its replicas, decisions and cost."""

from collections.abc import Sequence

import msgspec

from controlplane.domain.catalogue import Model
from controlplane.domain.quantities import ModelName
from controlplane.domain.replicas import Lane, Replica
from controlplane.domain.samples import fresh
from controlplane.http.reads.costs import cost_today
from controlplane.http.reads.figures import figure
from controlplane.http.reads.lines import decision_line
from controlplane.http.reads.matches import match_rows
from controlplane.http.reads.models import Seen, look, model_row
from controlplane.http.reads.shapes.models import ModelDetail, ReplicaRow, SpareRow
from controlplane.http.state import State
from controlplane.ports import DecisionQuery

DECISIONS_SHOWN = 20


async def model_detail(state: State, name: str) -> ModelDetail | None:
    """Give a model's page; None where the model is not catalogued."""
    model = state.in_force.catalogue.models.get(ModelName(name))
    if model is None:
        return None
    return await state.shared.once(
        f"model:{name}", 0.8, lambda: _detail(state, ModelName(name), model)
    )


async def _detail(state: State, name: ModelName, model: Model) -> ModelDetail:
    seen = await look(state)
    standing = state.history.plan.get(name)
    replicas = () if seen.replicas is None else seen.replicas.get(name, ())
    rows = await state.decisions.decisions(DecisionQuery(subject=name, limit=DECISIONS_SHOWN))
    scaling = model.policy.scaling
    margin = state.history.zone_margins.get(name, 0) if scaling.survive_zone else None
    return ModelDetail(
        row=model_row(state, name, model, seen),
        split={str(name): n for name, n in standing.split.items()} if standing else {},
        matches=match_rows(state, name),
        spare=_spare(model, replicas if seen.replicas is not None else None),
        replicas=tuple(_replica_row(replica, seen) for replica in _by_age(replicas)),
        decisions=tuple(decision_line(row) for row in rows),
        cost_today_micros=await cost_today(state, name),
        currency=state.in_force.catalogue.currency,
        zone_margin=margin,
        zone_margin_micros_per_hour=None if margin is None else _priced(state, name, margin),
        policy=msgspec.to_builtins(model.policy),
        min=scaling.min,
        max=scaling.max,
    )


def _priced(state: State, name: ModelName, replicas: int) -> int | None:
    """Price replicas on the class they would be taken from first, the cheapest that fits."""
    prices = [row.micros_per_hour for row in match_rows(state, name) if row.fits]
    known = [price for price in prices if price is not None]
    return replicas * min(known) if known else None


def _by_age(replicas: Sequence[Replica]) -> list[Replica]:
    return sorted(replicas, key=lambda replica: (replica.created_at, replica.name))


def _replica_row(replica: Replica, seen: Seen) -> ReplicaRow:
    return ReplicaRow(
        name=replica.name,
        node_class=replica.node_class,
        node=replica.node,
        zone=replica.zone,
        lane=str(replica.lane),
        phase=str(replica.phase),
        stage=str(replica.stage),
        created_at=replica.created_at,
        lane_since=replica.lane_since,
        in_flight=figure(fresh(replica.in_flight, seen.now, seen.stale_s), seen.now),
        sleeping=replica.sleeping,
        note=replica.note,
    )


def _spare(model: Model, replicas: Sequence[Replica] | None) -> SpareRow:
    policy = model.policy.spare
    warm = [r for r in replicas or () if r.lane is Lane.WARM and r.present]
    return SpareRow(
        kind=policy.kind,
        wanted=policy.count,
        ready=None if replicas is None else sum(replica.promotable for replica in warm),
        sleeping=None if replicas is None else sum(replica.sleeping for replica in warm),
        rotate_s=policy.rotate_s,
        oldest_since=min((replica.lane_since for replica in warm), default=None),
    )
