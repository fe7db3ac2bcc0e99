"""`controlplane place`: pack pods onto nodes, and say what nobody can beat."""

import csv
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO, TypedDict, Unpack

import click
import msgspec

from controlplane.cli.packing_files import read_machines, read_pods
from controlplane.clock import stopwatch
from controlplane.decide.placement.choose import Chosen, Method, choose
from controlplane.decide.placement.instance import MIB_PER_GIB, Instance
from controlplane.decide.placement.plan import Plan
from controlplane.domain.faults import FaultsError
from controlplane.domain.quantities import ClassName

METHODS = {
    Method.BEST_FIT: "size-descending best fit",
    Method.SOLVER: "the solver's re-plan",
}
CSV = click.Path(exists=True, dir_okay=False, path_type=Path)


class Share(click.ParamType[Decimal]):
    """A share above 0 and up to 1, kept as it was written: 0.9 is not a binary number."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        """Give the share as a Decimal."""
        try:
            share = Decimal(str(value))
        except ArithmeticError:
            share = Decimal(0)
        if not (share.is_finite() and 0 < share <= 1):
            self.fail(f"{value} is not above 0 and up to 1.", param, ctx)
        return share


class Asked(TypedDict):
    """What the options say."""

    nodes: Path
    pods: Path
    usable: Decimal
    whole_devices: bool
    replan: bool
    seats: TextIO | None
    as_json: bool


@click.command(
    epilog="Example: controlplane place --nodes nodes.csv --pods pods.csv --seats seats.csv"
)
@click.option("--nodes", type=CSV, required=True, help="Nodes and their devices, CSV.")
@click.option("--pods", type=CSV, required=True, help="Pods and their needs, CSV.")
@click.option(
    "--usable",
    type=Share(),
    default="0.9",
    show_default=True,
    help="Share of each device's memory that may be planned with.",
)
@click.option("--whole-devices", is_flag=True, help="Never let two pods share a device.")
@click.option(
    "--replan/--no-replan",
    default=True,
    show_default=True,
    help="Let the solver plan too; its plan is taken only when better.",
)
@click.option(
    "--seats", type=click.File("w", lazy=True), help="Write where each pod goes to a CSV file."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(**asked: Unpack[Asked]) -> None:
    """Pack pods onto nodes: least memory left out, then fewest pods, then fewest devices.

    The nodes file has the columns node, zone, gpu_model, gpus, vram_mib_per_gpu, runtime; the pods
    file pod, model, gpus, vram_mib_per_gpu (its need on each device), runtime (cuda, cann, both).
    Beside the result stands the bound: what no packing can do without leaving out.
    """
    machines, faults = read_machines(asked["nodes"], asked["usable"])
    pods, more = read_pods(asked["pods"])
    if faults or more:
        raise FaultsError([*faults, *more])
    began = stopwatch()
    instance = Instance(machines=machines, pods=pods, whole_devices=asked["whole_devices"])
    plan = _replan(instance) if asked["replan"] else None
    chosen = choose(instance, plan)
    figures = _figures(instance, chosen, stopwatch() - began)
    if asked["seats"] is not None:
        _write_seats(asked["seats"], chosen)
    if asked["as_json"]:
        click.echo(msgspec.json.encode(figures).decode())
    else:
        click.echo("\n".join(_lines(instance, chosen, figures)))


def _replan(instance: Instance) -> Plan:
    """Load the solver only when it is wanted."""
    plan: Plan = import_module("controlplane.adapters.solver.replan").replan(instance)
    return plan


def _figures(instance: Instance, chosen: Chosen, seconds: float) -> dict[str, Any]:
    packing = chosen.packing
    return {
        "pods": len(instance.pods),
        "unplaced": len(packing.unplaced),
        "unplaced_gib": _gib(packing.unplaced_mib),
        "devices_used": packing.devices_used,
        "stranded_gib": _gib(packing.stranded_mib),
        "bound_unplaced_gib": _gib(chosen.bound_mib),
        "method": chosen.method.value,
        "seconds": round(seconds, 3),
    }


def _lines(instance: Instance, chosen: Chosen, figures: dict[str, Any]) -> Iterator[str]:
    packing = chosen.packing
    devices = sum(machine.devices for machine in instance.machines)
    placed = len(instance.pods) - len(packing.unplaced)
    yield f"{placed} of {len(instance.pods)} pods placed by {METHODS[chosen.method]}."
    yield (
        f"Left out: {len(packing.unplaced)} pods, {figures['unplaced_gib']:g} GiB "
        f"(no packing leaves out less than {figures['bound_unplaced_gib']:g} GiB)."
    )
    yield (
        f"Devices in use: {packing.devices_used} of {devices}, "
        f"{figures['stranded_gib']:g} GiB of them hold nothing."
    )
    yield from _by_class(instance, chosen)
    left_out = Counter((pod.model, pod.devices, pod.need_mib) for pod in packing.unplaced)
    if left_out:
        yield f"\n{'left out':<24} {'pods':>6} {'devices':>8} {'GiB each':>9}"
    for (model, needed, mib), count in sorted(left_out.items()):
        yield f"{model:<24} {count:>6} {needed:>8} {_gib(mib):>9g}"


def _by_class(instance: Instance, chosen: Chosen) -> Iterator[str]:
    class_of = {machine.name: machine.node_class for machine in instance.machines}
    seated = Counter(class_of[seat.node] for seat in chosen.packing.seats)
    used = {(seat.node, device) for seat in chosen.packing.seats for device in seat.devices}
    in_use = Counter(class_of[node] for node, _ in used)
    total: Counter[ClassName] = Counter()
    for machine in instance.machines:
        total[machine.node_class] += machine.devices
    yield f"\n{'class':<24} {'pods':>6} {'in use':>8} {'devices':>9}"
    for name in sorted(total):
        yield f"{name:<24} {seated[name]:>6} {in_use[name]:>8} {total[name]:>9}"


def _write_seats(target: TextIO, chosen: Chosen) -> None:
    writer = csv.writer(target)
    writer.writerow(("pod", "node", "devices"))
    for seat in sorted(chosen.packing.seats, key=lambda seat: seat.pod):
        writer.writerow((seat.pod, seat.node, " ".join(map(str, seat.devices))))


def _gib(mib: int) -> float:
    return round(mib / MIB_PER_GIB, 3)
