"""The order of a table, from the address: a column's name, `-` before it for the other way round.

What is unknown comes last either way: it is neither small nor large.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, TypeVar

from controlplane.http.reads.shapes.models import ModelRow

Row = TypeVar("Row")
Sortable: TypeAlias = float | str | None
Columns = Mapping[str, Callable[[Row], Sortable]]


def _of_limit(row: ModelRow) -> float | None:
    """Waits compare by how near they are to their promise, not by their seconds."""
    wait = row.wait
    return None if wait.value is None else wait.value / (wait.limit or 1.0)


MODEL_COLUMNS: Columns[ModelRow] = {
    "name": lambda row: row.name,
    "serving": lambda row: row.lanes.serving if row.lanes else None,
    "drain": lambda row: row.drain.value,
    "wait": _of_limit,
    "memory": lambda row: row.memory.value,
    "last": lambda row: row.last.at if row.last else None,
    "cost": lambda row: row.cost_micros_per_hour,
}


def in_order(rows: Iterable[ModelRow], wish: str) -> list[ModelRow]:
    """Sort the table of models."""
    return ordered(rows, wish, MODEL_COLUMNS)


def ordered(rows: Iterable[Row], wish: str, columns: Columns[Row]) -> list[Row]:
    """Sort rows by the wished column; an unknown column leaves them as they are."""
    listed = list(rows)
    column = columns.get(wish.removeprefix("-"))
    if column is None:
        return listed
    known = [row for row in listed if column(row) is not None]
    unknown = [row for row in listed if column(row) is None]
    known.sort(key=lambda row: _key(column(row)), reverse=wish.startswith("-"))
    return known + unknown


def _key(value: Sortable) -> tuple[float, str]:
    return (0.0, value) if isinstance(value, str) else (float(value or 0.0), "")
