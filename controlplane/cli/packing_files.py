"""Reads the two CSV files of `place`: nodes with their devices, pods with their needs.

Every fault of both files is found before anything is packed, each with its line and the rule.
"""

import csv
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import TypeVar

from controlplane.decide.placement.instance import Machine, Pod
from controlplane.domain.faults import Fault
from controlplane.domain.quantities import ClassName, ModelName, NodeName, Zone
from controlplane.settings.texts import written_text

NODE_COLUMNS = ("node", "zone", "gpu_model", "gpus", "vram_mib_per_gpu", "runtime")
POD_COLUMNS = ("pod", "model", "gpus", "vram_mib_per_gpu", "runtime")
RUNTIMES = ("cuda", "cann", "rocm", "neuron", "other")
BOTH = frozenset({"cuda", "cann"})
MOST = 10**9  # of devices or MiB; more is a slip of the pen

T = TypeVar("T")


class Row:
    """One line of a table; what is asked of it and not there becomes a fault."""

    def __init__(self, source: str, line: int, cells: Mapping[str, str]) -> None:
        """Hold the cells, already stripped."""
        self.source = source
        self.line = line
        self.cells = cells
        self.faults: list[Fault] = []

    def fault(self, column: str, rule: str) -> None:
        """Note a fault of a cell."""
        self.faults.append(Fault(self.source, self.line, column, self.cells[column], rule))

    def text(self, column: str) -> str:
        """Give a cell that must not be empty."""
        if not self.cells[column]:
            self.fault(column, "must not be empty")
        return self.cells[column]

    def number(self, column: str, least: int) -> int:
        """Give a cell that must be a whole number of at least `least`."""
        written = self.cells[column]
        if not (written.isascii() and written.isdigit()):
            self.fault(column, f"must be a whole number of at least {least}")
            return least
        if not least <= int(written[:12]) <= MOST:
            self.fault(column, f"must be from {least} to {MOST}")
            return least
        return int(written)

    def runtimes(self, column: str) -> frozenset[str]:
        """Give a cell of runtimes: one, several with | between, or `both` for cuda|cann."""
        written = self.cells[column]
        named = frozenset(part.strip() for part in written.split("|"))
        if written == "both":
            return BOTH
        if not named <= frozenset(RUNTIMES):
            self.fault(column, f"must name {', '.join(RUNTIMES)}, joined by |, or both")
        return named


def read_machines(path: Path, usable: Decimal) -> tuple[tuple[Machine, ...], list[Fault]]:
    """Read the nodes; `usable` is the share of each device's memory that may be planned with."""

    def machine(row: Row) -> Machine:
        runtimes = row.runtimes("runtime")
        if len(runtimes) > 1:
            row.fault("runtime", "must be one runtime: a device runs one")
        return Machine(
            name=NodeName(row.text("node")),
            zone=Zone(row.text("zone")),
            node_class=ClassName(row.text("gpu_model")),
            devices=row.number("gpus", 0),
            usable_mib=int(row.number("vram_mib_per_gpu", 1) * usable),
            runtime=min(runtimes),
        )

    return _read(path, NODE_COLUMNS, machine)


def read_pods(path: Path) -> tuple[tuple[Pod, ...], list[Fault]]:
    """Read the pods."""

    def pod(row: Row) -> Pod:
        return Pod(
            name=row.text("pod"),
            model=ModelName(row.text("model")),
            devices=row.number("gpus", 1),
            need_mib=row.number("vram_mib_per_gpu", 1),
            runtimes=row.runtimes("runtime"),
        )

    return _read(path, POD_COLUMNS, pod)


def _read(
    path: Path, columns: tuple[str, ...], build: Callable[[Row], T]
) -> tuple[tuple[T, ...], list[Fault]]:
    """Build one thing from each line; the first column names it, and no name comes twice."""
    built: list[T] = []
    faults: list[Fault] = []
    lines: dict[str, int] = {}
    for row in _rows(path, columns, faults):
        built.append(build(row))
        name = row.cells[columns[0]]
        if name in lines:
            row.fault(columns[0], f"must be unique, but line {lines[name]} has it already")
        lines.setdefault(name, row.line)
        faults.extend(row.faults)
    return tuple(built), faults


def _rows(path: Path, columns: tuple[str, ...], faults: list[Fault]) -> Iterator[Row]:
    """Give the lines that have all columns; the order of columns is free, others are ignored."""
    source = str(path)
    reader = csv.reader(StringIO(written_text(path), newline=""), strict=True)
    header: list[str] = []
    try:
        header = [cell.strip() for cell in next(reader, [])]
        missing = [column for column in columns if column not in header]
        for column in missing:
            rule = f"is missing: the first line must name {', '.join(columns)}"
            faults.append(Fault(source, 1, column, "", rule))
        if missing:
            return
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                rule = f"has {len(cells)} cells, the first line has {len(header)}"
                faults.append(Fault(source, reader.line_num, "", ",".join(cells), rule))
                continue
            stripped = (cell.strip() for cell in cells)
            yield Row(source, reader.line_num, dict(zip(header, stripped, strict=True)))
    except csv.Error as error:
        faults.append(Fault(source, reader.line_num, "", "", f"is no CSV: {error}"))
