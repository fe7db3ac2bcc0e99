"""`simulate` and `serve` call the same world, cycles and admission: one trace, same decisions."""

import pytest

from controlplane.domain.quantities import Instant
from controlplane.ports import DecisionQuery
from controlplane.simulation.ours import Ours
from controlplane.simulation.run import drive
from controlplane.simulation.world import World
from tests.builders import CHAT
from tests.end_to_end.fleet import Daemon, a_small_fleet, a_world

UNTIL = 600.0


class Periodic(Ours):
    """Looks every period only, as the loops here do."""

    wakes = False


Line = tuple[Instant, str, int, int, tuple[str, ...]]


def counts(world: World) -> list[tuple[int, int, int, int]]:
    classes = world.tally(CHAT).classes.values()
    return [(c.arrived, c.served, c.in_time, sum(c.rejected.values())) for c in classes]


@pytest.mark.looptime
async def test_one_trace_gives_the_same_decisions_in_simulate_and_in_serve() -> None:
    catalogue = a_small_fleet()
    simulated, served = a_world(catalogue), a_world(catalogue)
    lines: list[Line] = []

    class Notes:
        def note(self, seen: object, _targets: object) -> None:
            del seen
            for choice in policy.choices:
                if choice.actions:
                    codes = tuple(reason.code for reason in choice.trail)
                    at = simulated.now
                    lines.append((at, choice.subject, choice.current, choice.target, codes))

    policy = Periodic(catalogue)
    drive(simulated, policy, UNTIL, [Notes()])

    daemon = Daemon(served, catalogue)
    await daemon.run(UNTIL - 1.0)
    rows = await daemon.journal.decisions(DecisionQuery(limit=10_000))
    same = [
        (
            round(row.at, 3),
            row.subject,
            row.current,
            row.target,
            tuple(reason.code for reason in row.trail),
        )
        for row in reversed(rows)
        if row.actions
    ]

    assert len(lines) > 8  # up for the burst, down after it
    assert same == lines
    served.advance(UNTIL, wake=False)
    assert counts(served) == counts(simulated)
