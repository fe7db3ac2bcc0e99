"""Tables as CSV: nested values flattened into named columns, nothing a spreadsheet would execute.

A cell of text that begins like a formula gets an apostrophe before it; numbers stay numbers.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from io import StringIO
from typing import Any

import msgspec

from controlplane.domain.reasons import Reason
from controlplane.http.reads.figures import Figure

CSV = "text/csv"
FORMULA = ("=", "+", "-", "@", "\t", "\r", "|")
Cell = str | int | float | None


def as_csv(rows: Iterable[Any]) -> str:
    """Give a table with the columns of its rows in the order they first appear."""
    flat = [dict(_flatten("", row)) for row in rows]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    out = StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    for row in flat:
        writer.writerow([safe(row.get(name)) for name in columns])
    return out.getvalue()


def line(cells: Iterable[Cell]) -> str:
    """Give one line, for tables too long to hold."""
    out = StringIO()
    csv.writer(out, lineterminator="\r\n").writerow([safe(cell) for cell in cells])
    return out.getvalue()


def safe(cell: Cell) -> Cell:
    """Keep a spreadsheet from taking text for a formula."""
    if isinstance(cell, str) and cell.startswith(FORMULA):
        return "'" + cell
    return cell


def _flatten(prefix: str, value: Any) -> Iterator[tuple[str, Cell]]:
    match value:
        case Figure():
            yield prefix, value.value
            if value.limit is not None:
                yield f"{prefix}_limit", value.limit
            yield f"{prefix}_unknown", value.why
        case Reason():
            yield prefix, str(value.code)
        case msgspec.Struct():
            for name in value.__struct_fields__:
                yield from _flatten(_joined(prefix, name), getattr(value, name))
        case Mapping():
            for name, item in value.items():
                yield from _flatten(_joined(prefix, str(name)), item)
        case _:
            yield prefix, _cell(value)


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}_{name}" if prefix else name


def _cell(value: Any) -> Cell:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Enum):
        return str(value.value)
    if value is None or isinstance(value, int | float | str):
        return value
    return msgspec.json.encode(value).decode()
