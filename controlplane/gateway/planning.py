"""The gateway's plan out of the fleet as it was seen and the catalogue in force.

Only replicas in service are endpoints, and spares that lend are low's alone. A replica that drains,
or whose engine reports a queue of its own or a full cache, gets nothing new; what still runs on it
goes on holding that many slots, so that admission neither overfills the others nor waits for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

import msgspec

from controlplane.domain.catalogue import Catalogue, Model
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.fleet import FleetView, replicas_by_model
from controlplane.domain.gateway import ApiKey, Endpoint, GatewayPlan, ServedModel
from controlplane.domain.load import ModelLoad
from controlplane.domain.overrides import Isolation
from controlplane.domain.quantities import ModelName, ReplicaName, Zone
from controlplane.domain.replicas import Lane, Replica
from controlplane.domain.samples import NOT_YET, number
from controlplane.ports import EngineAt


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What the gateway needs besides fleet and catalogue; all of it may be left out."""

    keys: Sequence[ApiKey] = ()
    isolated: Mapping[ModelName, Isolation] = field(default_factory=dict)
    """Models that people took out of traffic."""
    full: frozenset[ReplicaName] = frozenset()
    """Replicas whose engines report a queue of their own, or a full KV cache."""
    loads: Mapping[ModelName, ModelLoad] = field(default_factory=dict)
    zone: str = ""
    peers: Sequence[Endpoint] = ()


def plan_of(
    view: FleetView, catalogue: Catalogue, engines: Sequence[EngineAt], around: Around | None = None
) -> GatewayPlan:
    """Give the plan; a replica whose address is not known yet takes no requests."""
    around = around or Around()
    at = {engine.replica: engine for engine in engines}
    replicas = replicas_by_model(view.replicas)
    return GatewayPlan(
        models=tuple(
            _model(name, model, replicas.get(name, ()), at, around)
            for name, model in catalogue.models.items()
        ),
        keys=tuple(around.keys),
        policy=catalogue.gateway,
        zone=Zone(around.zone),
        peers=tuple(around.peers),
    )


class FixedEngine(Protocol):
    """An engine that runs already, as somebody wrote it down."""

    @property
    def model(self) -> str:
        """Name its model."""
        ...

    @property
    def host(self) -> str:
        """Say where it answers."""
        ...

    @property
    def port(self) -> int:
        """Say on which port."""
        ...

    @property
    def slots(self) -> int | None:
        """Say how many requests it serves at once; None: as its model's variant does."""
        ...


def static_plan(
    catalogue: Catalogue,
    engines: Sequence[FixedEngine],
    keys: Sequence[ApiKey] = (),
    isolated: Mapping[ModelName, Isolation] = MappingProxyType({}),
) -> GatewayPlan:
    """Give the plan for engines that run already and are nobody's replicas."""
    unknown = [engine.model for engine in engines if engine.model not in catalogue.models]
    if unknown:
        rule = f"is no model of the fleet file: {', '.join(catalogue.models)}"
        raise FaultsError([Fault("--engine", None, "", name, rule) for name in unknown])
    view = FleetView(at=0.0, nodes=(), replicas=())
    plan = plan_of(view, catalogue, (), Around(keys=keys, isolated=isolated))
    return msgspec.structs.replace(
        plan, models=tuple(_fixed(model, catalogue, engines) for model in plan.models)
    )


def _fixed(
    served: ServedModel, catalogue: Catalogue, engines: Sequence[FixedEngine]
) -> ServedModel:
    usual = min(variant.slots for variant in catalogue.models[served.name].variants.values())
    mine = [engine for engine in engines if engine.model == served.name]
    endpoints = tuple(
        Endpoint(
            replica=ReplicaName(f"{served.name}-{n}"),
            host=engine.host,
            port=engine.port,
            slots=engine.slots or usual,
        )
        for n, engine in enumerate(mine)
    )
    return msgspec.structs.replace(served, endpoints=endpoints)


def _model(
    name: ModelName,
    model: Model,
    replicas: Sequence[Replica],
    at: Mapping[ReplicaName, EngineAt],
    around: Around,
) -> ServedModel:
    entrance, policy = model.entrance, model.policy
    served = () if model.serving.served_name is None else (model.serving.served_name,)
    found = (_endpoint(r, model, at[r.name], around) for r in replicas if r.name in at)
    return ServedModel(
        name=name,
        names=tuple(n for n in dict.fromkeys((*served, *entrance.names)) if n != name),
        hosts=entrance.hosts,
        prefix=entrance.prefix,
        request_types=entrance.request_types,
        admission=policy.admission,
        breaker=policy.breaker,
        wait_limits={p: promise.wait_p99_s for p, promise in policy.objectives.items()},
        service_s=_service_s(name, model, around),
        endpoints=tuple(endpoint for endpoint in found if endpoint is not None),
        recovery_s=max(variant.load_s for variant in model.variants.values()),
        tls=model.serving.tls,
        isolated=around.isolated.get(name),
    )


def _endpoint(replica: Replica, model: Model, engine: EngineAt, around: Around) -> Endpoint | None:
    """Give a replica's endpoint, if it takes requests or still has some."""
    variant = model.variants.get(replica.node_class)
    lending = replica.lent_slots > 0 and replica.promotable and not replica.sleeping
    draining = replica.lane is Lane.DRAINING and replica.present
    if variant is None or not (replica.serving or lending or draining):
        return None
    slots = replica.lent_slots if lending else variant.slots
    taking = not draining and replica.name not in around.full
    busy = int(number(replica.in_flight) or 0)
    return Endpoint(
        replica=replica.name,
        host=engine.host,
        port=engine.serving.port,
        slots=slots if taking else min(slots, busy),
        zone=replica.zone or Zone(""),
        lending=lending,
        taking=taking,
    )


def _service_s(name: ModelName, model: Model, around: Around) -> float:
    """Give the mean time of a request: measured, else what the catalogue says."""
    load = around.loads.get(name)
    measured = number(load.service_s if load is not None else NOT_YET)
    prior = [variant.service_s for variant in model.variants.values()]
    return measured or sum(prior) / len(prior)
