"""The synthetic instances of tests/data/placement, as packing problems."""

from decimal import Decimal
from pathlib import Path

from controlplane.cli.packing_files import read_machines, read_pods
from controlplane.decide.placement.instance import Instance

DATA = Path(__file__).parents[2] / "data" / "placement"


def named(name: str, *, whole_devices: bool = False) -> Instance:
    """Give an instance by its name: S55, S85, M55, M85, L85; 0.9 of the memory is usable."""
    machines, faults = read_machines(DATA / f"{name[0]}_nodes.csv", Decimal("0.9"))
    pods, more = read_pods(DATA / f"{name}_pods.csv")
    assert not faults
    assert not more
    return Instance(machines=machines, pods=pods, whole_devices=whole_devices)
