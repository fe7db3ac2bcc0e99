"""The same cheapest schedule as an integer programme, for classes that compete within a step.

Slower than `schedule` by orders of magnitude, but it knows every class's own backlog. The search is
bounded by the nodes it explores, never by time, so the same input gives the same answer anywhere.
"""

from typing import Any

import msgspec
import numpy as np

from controlplane.queueing.fluid import Array
from controlplane.queueing.schedule import FleetRange

MOST_NODES = 50_000


class Solved(msgspec.Struct, frozen=True):
    """What the solver found: replica seconds of the best schedule, and no schedule is below."""

    cost_s: float
    bound_s: float

    @property
    def exact(self) -> bool:
        """Say whether the two meet."""
        return self.cost_s - self.bound_s < 1e-3


def solve(fleet: FleetRange, work: Array, allowed: Array, nodes: int = MOST_NODES) -> Solved | None:
    """Minimise time in service plus load times; None where no schedule serves all in time.

    Variables: replicas n_i and starts s_i per step, backlog B_ci per class and step.
    """
    import highspy  # noqa: PLC0415  # half a second and 20 MB, only where it is needed

    classes, steps = work.shape
    variables = steps * (2 + classes)
    lp = highspy.HighsLp()
    lp.num_col_ = variables
    costs = (np.full(steps, fleet.step_s), np.full(steps, fleet.load_s), np.zeros(steps * classes))
    lp.col_cost_ = np.concatenate(costs)
    lp.col_lower_ = np.concatenate((np.full(steps, float(fleet.min)), np.zeros(variables - steps)))
    most = (np.full(steps, float(fleet.max)), np.full(steps, float(fleet.max)), allowed.ravel())
    lp.col_upper_ = np.concatenate(most)
    whole, real = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    lp.integrality_ = [whole] * steps + [real] * (variables - steps)
    rows = _rows(fleet, work)
    lp.num_row_ = len(rows)
    lp.row_lower_ = np.array([row.lower for row in rows])
    lp.row_upper_ = np.array([row.upper for row in rows])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0, *(len(row.terms) for row in rows)])
    lp.a_matrix_.index_ = np.array([column for row in rows for column, _ in row.terms])
    lp.a_matrix_.value_ = np.array([factor for row in rows for _, factor in row.terms])
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # the library has no types
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_max_nodes", nodes)
    solver.passModel(lp)
    solver.run()
    if solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return None
    found = solver.getInfo()
    return Solved(float(found.objective_function_value), float(found.mip_dual_bound))


class _Row(msgspec.Struct, frozen=True):
    """lower <= sum of coefficients x variables <= upper."""

    terms: tuple[tuple[int, float], ...]
    lower: float = -np.inf
    upper: float = np.inf


def _rows(fleet: FleetRange, work: Array) -> list[_Row]:
    """Give the constraints; variable i is n_i, steps + i is s_i, then the backlogs by class."""
    classes, steps = work.shape

    def growth(row: int, step: int, sign: float) -> tuple[tuple[int, float], ...]:
        now = steps * (2 + row) + step
        return ((now, sign), (now - 1, -sign)) if step else ((now, sign),)

    rows = []
    for step in range(steps):
        before = ((step - 1, 1.0),) if step else ()
        started = 0.0 if step else -float(fleet.start)
        rows.append(_Row(((steps + step, 1.0), (step, -1.0), *before), lower=started))
        served = tuple(term for row in range(classes) for term in growth(row, step, 1.0))
        arriving = float(work[:, step].sum())
        rows.append(_Row(((step, fleet.per_replica), *served), lower=arriving))
        rows.extend(
            _Row(growth(row, step, 1.0), upper=float(work[row, step])) for row in range(classes)
        )
    return rows
