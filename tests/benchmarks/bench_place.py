"""Packing L85 (5,882 pods on 480 nodes): 2 s without the solver's re-plan, 10 s with it."""

from collections.abc import Callable
from time import perf_counter

from controlplane.adapters.solver.replan import replan
from controlplane.decide.placement.choose import Chosen, choose
from tests.adapters.solver.instances import named


def main() -> None:
    """Measure both ways, and say what they reached."""
    problem = named("L85")
    ways: tuple[tuple[str, float, Callable[[], Chosen]], ...] = (
        ("without the re-plan", 2.0, lambda: choose(problem)),
        ("with the re-plan", 10.0, lambda: choose(problem, replan(problem))),
    )
    for name, limit, way in ways:
        began = perf_counter()
        packing = way().packing
        took = perf_counter() - began
        print(f"place L85 {name}: {took:.2f} s (limit {limit:g} s)")
        stranded = packing.stranded_mib / 1024
        print(
            f"  {len(packing.unplaced)} pods left out, {packing.devices_used} devices in use, "
            f"{stranded:.0f} GiB of them stranded"
        )


if __name__ == "__main__":
    main()
