"""One scaling decision with its full trail; the limit is 30 us of an idle machine.

Processor time, the best of many short rounds, with the yardstick between them.
"""

from functools import partial
from time import process_time
from timeit import timeit

from controlplane.decide.scaling.decision import decide_scale
from tests.benchmarks.yardstick import additions_ns
from tests.builders import a_class_load, a_load, a_policy, an_input

TIMES, ROUNDS = 1_000, 30


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
        decide = partial(decide_scale, seen)
        rounds = [
            (timeit(decide, timer=process_time, number=TIMES), additions_ns())
            for _ in range(ROUNDS)
        ]
        took, addition = (min(column) for column in zip(*rounds, strict=True))
        rules = len(decide_scale(seen).trail)
        print(
            f"decision, {name}: {took / TIMES * 1e6:.1f} us with a trail of {rules} (limit 30 us)"
        )
        print(f"  as long as {took / TIMES * 1e9 / addition:.0f} additions of {addition:.0f} ns")


if __name__ == "__main__":
    main()
