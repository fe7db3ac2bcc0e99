"""One scaling decision with its full trail; the limit is 30 us."""

from functools import partial
from timeit import repeat

from controlplane.decide.scaling.decision import decide_scale
from tests.builders import a_class_load, a_load, a_policy, an_input

TIMES = 5_000


def main() -> None:
    """Measure a calm decision and one in a burst."""
    calm = an_input(
        a_load(a_class_load(200.0, wait=0.01), a_class_load(150.0, wait=0.02), kv=0.5),
        policy=a_policy(min=4, max=12),
    )
    burst = an_input(
        a_load(
            a_class_load(200.0, wait=0.01),
            a_class_load(150.0, wait=0.02),
            a_class_load(800.0, 200.0, turned_away=700.0, wait=2.0),
            kv=0.5,
        ),
        policy=a_policy(min=4, max=12),
    )
    for name, seen in (("calm", calm), ("burst", burst)):
        best = min(repeat(partial(decide_scale, seen), number=TIMES, repeat=5)) / TIMES
        rules = len(decide_scale(seen).trail)
        print(f"decision, {name}: {best * 1e6:.1f} us with a trail of {rules} (limit 30 us)")


if __name__ == "__main__":
    main()
