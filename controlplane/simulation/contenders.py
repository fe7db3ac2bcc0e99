"""Policies by name: what `--policy` takes, and how a scenario becomes a catalogue under each.

The world judges by the scenario's limits, always. What a policy itself aims at, and the front door
it brings, are its own: ours by its profile, a peer's by the defaults everybody gets.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from controlplane.domain.catalogue import Catalogue, Model, Need, Variant
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.policies import AdmissionPolicy, ModelPolicy, Objective, ScalingPolicy
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ClassName, ModelName, Team
from controlplane.settings.profiles import profile
from controlplane.simulation.ours import Ours
from controlplane.simulation.peers.fleet import Deployment
from controlplane.simulation.peers.hpa import BusySlots, Hpa, QueueDepth
from controlplane.simulation.peers.kpa import Kpa
from controlplane.simulation.peers.static import Static
from controlplane.simulation.run import Policy
from controlplane.simulation.scenario import Scenario, ScenarioModel

PROFILES = {
    "controlplane": "controlplane",
    "controlplane:saving": "saving",
    "controlplane:service": "service",
    "seed-000": "seed-000",
    "seed-001": "seed-001",
    "seed-004": "seed-004",
}
FORMS = (*PROFILES, "static:N", "hpa:UTIL", "keda-queue:DEPTH", "kpa")
MOST_TARGET = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A policy about to run: who decides, in which world."""

    policy: Policy
    catalogue: Catalogue  # the world's: the scenario's limits, the contender's front door
    initial: Mapping[ModelName, int]
    self_serving: bool  # a plain Deployment: a replica serves as soon as it can


def contender(name: str, scenario: Scenario) -> Contender:
    """Build the policy of this name; FaultsError says what a name may be."""
    if name in PROFILES:
        return _ours(PROFILES[name], scenario)
    kind, _, figure = name.partition(":")
    if kind == "static" and figure:
        return _static(name, figure, scenario)
    if name == "kpa":
        return _peer(scenario, Kpa(deployments(scenario)))
    if kind in ("hpa", "keda-queue") and figure:
        metric = BusySlots if kind == "hpa" else QueueDepth
        target = _target(name, figure, most=1.0 if kind == "hpa" else MOST_TARGET)
        metrics = {model: metric(target) for model in scenario.models}
        return _peer(scenario, Hpa(metrics, deployments(scenario)))
    raise _wrong(name, f"must be one of {', '.join(FORMS)}")


def deployments(scenario: Scenario) -> list[Deployment]:
    """Give every model's plain Deployment."""
    return [
        Deployment(
            model=name,
            node_class=model.node_class,
            least=model.min,
            most=model.max,
            initial=model.initial,
            slots=model.slots,
        )
        for name, model in scenario.models.items()
    ]


def catalogue(scenario: Scenario, policy_of: Callable[[ScenarioModel], ModelPolicy]) -> Catalogue:
    """Write a scenario as the fleet it is, its models under the given policies."""
    return Catalogue(
        node_classes=scenario.node_classes,
        pools=scenario.pools,
        models={
            name: _model(scenario, model, policy_of(model))
            for name, model in scenario.models.items()
        },
    )


def limits(model: ScenarioModel) -> dict[Priority, Objective]:
    """Give the scenario's limits as objectives."""
    return {priority: Objective(wait_p99_s=limit) for priority, limit in model.in_time_s.items()}


def _ours(profile_name: str, scenario: Scenario) -> Contender:
    base = profile(profile_name).policy
    brings_own_door = profile_name.startswith("seed-")

    def judged(model: ScenarioModel) -> ModelPolicy:
        admission = base.admission
        if not brings_own_door:
            admission = replace(admission, queue_bounds=model.queue_bounds)
        admission = replace(admission, prompt_limit=model.prompt_limit)
        bounds = replace(base.scaling, min=model.min, max=model.max)
        return replace(base, scaling=bounds, admission=admission, objectives=limits(model))

    def deciding(model: ScenarioModel) -> ModelPolicy:
        return replace(judged(model), objectives={**limits(model), **base.objectives})

    return Contender(
        policy=Ours(catalogue(scenario, deciding)),
        catalogue=catalogue(scenario, judged),
        initial={name: model.initial for name, model in scenario.models.items()},
        self_serving=False,
    )


def _peer(scenario: Scenario, policy: Policy) -> Contender:
    return Contender(
        policy=policy,
        catalogue=catalogue(scenario, _plain),
        initial={name: model.initial for name, model in scenario.models.items()},
        self_serving=True,
    )


def _static(name: str, figure: str, scenario: Scenario) -> Contender:
    replicas = int(figure) if figure.isdecimal() else -1
    if not any(model.min <= replicas <= model.max for model in scenario.models.values()):
        bounds = " or ".join(sorted({f"{m.min}..{m.max}" for m in scenario.models.values()}))
        raise _wrong(name, f"N must be a whole number within the scenario's {bounds}")
    fixed = [
        replace(one, initial=max(one.least, min(replicas, one.most)))
        for one in deployments(scenario)
    ]
    ran = _peer(scenario, Static(fixed))
    return replace(ran, initial={one.model: one.initial for one in fixed})


def _plain(model: ScenarioModel) -> ModelPolicy:
    """What every peer stands behind: the product's own queues, the scenario's bounds."""
    return ModelPolicy(
        objectives=limits(model),
        scaling=ScalingPolicy(min=model.min, max=model.max),
        admission=AdmissionPolicy(queue_bounds=model.queue_bounds, prompt_limit=model.prompt_limit),
    )


def _model(scenario: Scenario, model: ScenarioModel, policy: ModelPolicy) -> Model:
    of_class = scenario.node_classes[model.node_class]
    room = model.devices * of_class.vram_gib * of_class.usable
    variant = Variant(
        image="scenario/engine:1",
        runtime=of_class.runtime,
        slots=model.slots,
        service_s=model.service_s,
        load_s=model.load_s or 1e-3,  # a Deployment that is there at once is still created
        promote_s=model.promote_s,
    )
    return Model(
        team=Team("scenario"),
        importance=model.importance,
        need=Need(vram_gib=model.need_gib or 0.9 * room),
        tensor_parallel=(model.devices,),
        variants={ClassName(model.node_class): variant},
        policy=policy,
    )


def _target(name: str, figure: str, most: float) -> float:
    try:
        target = float(figure)
    except ValueError:
        target = -1.0
    if not 0 < target <= most:
        raise _wrong(name, f"the figure must be above 0 and at most {most:g}")
    return target


def _wrong(name: str, rule: str) -> FaultsError:
    return FaultsError([Fault("policy", None, "", name, rule)])
