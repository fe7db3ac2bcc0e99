"""How much must stay unplaced whatever one does: a bound that needs no solver.

Whoever can only live in some groups of devices cannot get more than those groups have. For every
union of homes, the memory that must go there minus what is there is a lower bound on what stays
outside; the greatest of them is the bound of the fractional problem (a minimum cut).
"""

from collections.abc import Mapping

from controlplane.decide.placement.instance import Demand, Fleet, Group, Instance, homes

MAX_UNIONS = 4096  # unions of homes tried; fleets have few groups, so this is never met in practice


def bound_unplaced_mib(instance: Instance) -> int:
    """Give a figure in MiB below which no packing of the instance can leave unplaced."""
    fleet, demand = instance.fleet, instance.demand
    sought: dict[frozenset[Group], int] = {}
    for shape, pods in demand.items():
        home = frozenset(homes(shape, fleet))
        sought[home] = sought.get(home, 0) + shape.mib * len(pods)
    capacity = _capacity(fleet, demand, whole_devices=instance.whole_devices)
    return max(
        (
            sum(mib for home, mib in sought.items() if home <= union)
            - sum(capacity[group] for group in union)
            for union in _unions(frozenset(sought))
        ),
        default=0,
    )


def _unions(of: frozenset[frozenset[Group]]) -> frozenset[frozenset[Group]]:
    found: set[frozenset[Group]] = {frozenset()}
    for home in sorted(of, key=lambda groups: (len(groups), sorted(groups))):
        if len(found) > MAX_UNIONS:
            break
        found |= {home | union for union in found}
    return frozenset(found)


def _capacity(fleet: Fleet, demand: Demand, *, whole_devices: bool) -> Mapping[Group, int]:
    """Say what each group can hold at most: its memory, or one biggest pod a device."""
    held: dict[Group, int] = {}
    for group, machines in fleet.items():
        devices = sum(machine.devices for machine in machines)
        per_device = group.usable_mib
        if whole_devices:
            per_device = max((s.need_mib for s in demand if group.admits(s)), default=0)
        held[group] = devices * per_device
    return held
