"""What a scaled load comes to in virtual time: the same requests, the same admission, no sockets.

It is the yardstick beside a measured run: what is above it was added by the machine.
"""

from typing import Any

from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import ModelName
from controlplane.simulation.contenders import Contender, contender
from controlplane.simulation.execution import START
from controlplane.simulation.report import class_figures
from controlplane.simulation.run import drive
from controlplane.simulation.scaled import Scaled, for_replicas
from controlplane.simulation.scenario import Scenario
from controlplane.simulation.world import World, WorldSpec

DRAIN_S = 600.0  # the queue left by the last burst is served, however long it is


def front_door(scenario: Scenario, name: ModelName, replicas: int, slots: int) -> AdmissionPolicy:
    """Give the admission every peer of that scenario stands behind."""
    return _fixed(scenario, name, replicas, slots).catalogue.models[name].policy.admission


def expected(
    scenario: Scenario, name: ModelName, load: Scaled, size: tuple[int, int], *, fifo: bool
) -> dict[str, Any]:
    """Run a load on so many replicas with so many slots; give the figures of each class."""
    ran = _fixed(scenario, name, *size)
    node_class = scenario.models[name].node_class
    spec = WorldSpec(
        catalogue=ran.catalogue,
        start=START,
        initial={name: {node_class: ran.initial[name]}},
        self_serving=True,
        image_cached=True,
        warm_up_request_s=0.0,
        fifo=fifo,
    )
    world = World(spec, {name: load}, 1)
    drive(world, ran.policy, START + load.seconds + DRAIN_S)
    tally = world.tally(name)
    return {str(priority): class_figures([tally.classes[priority]]) for priority in PRIORITIES}


def _fixed(scenario: Scenario, name: ModelName, replicas: int, slots: int) -> Contender:
    return contender(f"static:{replicas}", for_replicas(scenario, name, replicas, slots))
