"""Which packing is taken: the plain one, unless a plan from the solver is really better."""

from enum import StrEnum

import msgspec

from controlplane.decide.placement.bound import bound_unplaced_mib
from controlplane.decide.placement.instance import Instance
from controlplane.decide.placement.packing import Packing, pack
from controlplane.decide.placement.plan import Plan, follow


class Method(StrEnum):
    """Who packed what was taken."""

    BEST_FIT = "best-fit"  # size-descending best fit, by class scarcity
    SOLVER = "solver"


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The packing that was taken, who made it, and what nobody can beat."""

    packing: Packing
    method: Method
    bound_mib: int  # no packing leaves less unplaced


def choose(instance: Instance, plan: Plan | None = None) -> Chosen:
    """Pack, carry out the plan if there is one, take the better; a tie goes to the plain one."""
    plain = pack(instance)
    bound = bound_unplaced_mib(instance)
    if plan is None:
        return Chosen(packing=plain, method=Method.BEST_FIT, bound_mib=bound)
    planned = follow(instance, plan)
    better = planned.score < plain.score
    return Chosen(
        packing=planned if better else plain,
        method=Method.SOLVER if better else Method.BEST_FIT,
        bound_mib=min(max(bound, plan.bound_mib), plain.unplaced_mib),
    )
