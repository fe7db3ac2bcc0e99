"""One run from names to figures: the entry that command line, sweeps and what-if all call.

Everything it takes and gives can be pickled, so it may run in a process of its own.
"""

from typing import Any

from controlplane.clock import stopwatch
from controlplane.domain.quantities import Instant
from controlplane.simulation.bound import bound_gpu_hours
from controlplane.simulation.contenders import contender
from controlplane.simulation.library import load_scenario
from controlplane.simulation.report import Course, Ran, report
from controlplane.simulation.run import Progress, drive
from controlplane.simulation.timeline import Timeline
from controlplane.simulation.work import MeteredTraffic
from controlplane.simulation.world import World, WorldSpec

START: Instant = 1_767_225_600.0  # 2026-01-01 00:00 UTC; a day's traffic begins at midnight

GRACE_S = 30.0  # terminationGracePeriodSeconds where nobody sets it


def run_scenario(
    scenario: str,
    policy: str = "controlplane",
    seed: int = 1,
    *,
    fifo: bool = False,
    progress: Progress | None = None,
    points: int = 0,
) -> dict[str, Any]:
    """Run a scenario (shipped, by name, or a file) under a policy and give the report.

    The same seed gives the same figures, but for `requests_per_s`. With `points` the report also
    has `courses`: by model, about so many moments, for charts. Wrong input raises FaultsError.
    """
    loaded = load_scenario(scenario)
    plan = loaded.scenario
    ran = contender(policy, plan)
    metered = {
        name: MeteredTraffic(traffic, plan.duration_s)
        for name, traffic in loaded.traffic(seed).items()
    }
    spec = WorldSpec(
        catalogue=ran.catalogue,
        start=START,
        initial={
            name: {model.node_class: ran.initial[name]} for name, model in plan.models.items()
        },
        self_serving=ran.self_serving,
        grace_s=GRACE_S if ran.self_serving else 0.0,  # ours drains before it deletes
        image_cached=plan.image_cached,
        warm_up_request_s=plan.warm_up_request_s,
        fifo=fifo,
    )
    course, timeline = Course(), Timeline(plan.models, START, plan.duration_s, points)
    began = stopwatch()
    world = World(spec, metered, seed)
    drive(world, ran.policy, START + plan.duration_s, (course, timeline), progress)
    wall_s = stopwatch() - began
    worded = report(
        Ran(
            scenario=loaded.name,
            policy=policy,
            seed=seed,
            tallies={name: world.tally(name) for name in plan.models},
            bounds={
                name: bound_gpu_hours(model, metered[name].work)
                for name, model in plan.models.items()
            },
            course=course,
            wall_s=wall_s,
        )
    )
    return {**worded, "courses": timeline.courses()} if points else worded
