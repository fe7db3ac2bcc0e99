"""Request traces: CSV files, gzipped or not, one request a line, in order of arrival.

Columns: `t_s` (seconds from the start) is required; `prompt_tokens`, `output_tokens` and
`service_s` are read where they stand; any other column is left alone. Every fault is named with
file, line, column, value and rule, all at once, so that a file is mended in one go.
"""

import csv
import gzip
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from controlplane.domain.faults import Fault, FaultsError

SHOWN = 20  # faults listed before the rest is only counted


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTrace:
    """Requests as they came, as arrays of one length."""

    at: NDArray[np.float64]
    prompt_tokens: NDArray[np.int32] | None = None
    output_tokens: NDArray[np.int32] | None = None
    service_s: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.at)


def read_trace(path: Path) -> RequestTrace:
    """Read a trace; FaultsError names every fault."""
    try:
        with _opened(path) as file:
            return _parsed(file, path.name)
    except (OSError, EOFError, csv.Error) as cause:
        rule = f"cannot be read: {getattr(cause, 'strerror', None) or cause}"
        raise FaultsError([Fault(str(path), None, "", "", rule)]) from cause
    except UnicodeDecodeError as cause:
        raise FaultsError([Fault(str(path), None, "", "", "must be UTF-8 text")]) from cause


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    # utf-8-sig: spreadsheets put a mark in front.
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as file:
            yield file
    else:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield file


def _parsed(file: TextIO, name: str) -> RequestTrace:
    rows = csv.reader(file)
    header = [column.strip() for column in next(rows, [])]
    if "t_s" not in header:
        rule = "the header must name a column t_s (seconds from the start)"
        raise FaultsError([Fault(name, 1, "t_s", ",".join(header), rule)])
    numbered = [(rows.line_num, row) for row in rows if row]
    if not numbered:
        raise FaultsError([Fault(name, 2, "t_s", "", "a trace must hold at least one request")])
    lines = [row for _, row in numbered]
    faults = _Faults(name, [number for number, _ in numbered])
    wrong = faults.widths(lines, len(header))
    columns = {
        column: faults.column(column, lines, index, whole=column.endswith("_tokens"))
        for index, column in enumerate(header)
        if column in {"t_s", "prompt_tokens", "output_tokens", "service_s"} and not wrong
    }
    if not wrong:
        faults.order(columns["t_s"])
    faults.settle()
    tokens = {
        key: columns[key].astype(np.int32)
        for key in ("prompt_tokens", "output_tokens")
        if key in columns
    }
    return RequestTrace(at=columns["t_s"], service_s=columns.get("service_s"), **tokens)


class _Faults:
    """Collects faults over a whole file; `numbers` says on which line each request stands."""

    def __init__(self, name: str, numbers: Sequence[int]) -> None:
        self._name = name
        self._numbers = numbers
        self._faults: list[Fault] = []

    def widths(self, lines: Sequence[Sequence[str]], width: int) -> bool:
        """Note lines with too few or too many columns."""
        wrong = [index for index, row in enumerate(lines) if len(row) != width]
        for index in wrong:
            rule = f"must be the number of columns, {width} as in the header"
            self._note(index, "line", len(lines[index]), rule)
        return bool(wrong)

    def column(
        self, column: str, lines: Iterable[Sequence[str]], index: int, *, whole: bool
    ) -> NDArray[np.float64]:
        """Turn a column into numbers, or note every field that is none."""
        fields = [row[index] for row in lines]
        try:
            numbers = np.array(fields, dtype=np.float64)
        except ValueError:
            numbers = np.array([_number(field) for field in fields])
        bad = ~np.isfinite(numbers) | (numbers < 0)
        rule = "must be a number, 0 or more"
        if whole:
            bad |= numbers != np.floor(numbers)
            bad |= numbers >= np.iinfo(np.int32).max
            rule = "must be a whole number of tokens, 0 or more"
        for at in np.flatnonzero(bad):
            self._note(int(at), column, fields[at], rule)
        return np.where(bad, 0.0, numbers)

    def order(self, at: NDArray[np.float64]) -> None:
        """Note requests that come before their predecessor."""
        if self._faults:
            return  # a field that could not be read would only repeat itself here
        for index in np.flatnonzero(np.diff(at) < 0):
            rule = f"must not be before line {self._numbers[int(index)]}: times never fall"
            self._note(int(index) + 1, "t_s", float(at[index + 1]), rule)

    def settle(self) -> None:
        """Raise when anything was noted."""
        if not self._faults:
            return
        shown = sorted(self._faults)[:SHOWN]
        if len(self._faults) > SHOWN:
            rule = f"and {len(self._faults) - SHOWN} more faults"
            shown.append(Fault(self._name, self._numbers[-1], "", "", rule))
        raise FaultsError(shown)

    def _note(self, index: int, column: str, value: object, rule: str) -> None:
        self._faults.append(Fault(self._name, self._numbers[index], column, str(value), rule))


def _number(field: str) -> float:
    try:
        number = float(field)
    except ValueError:
        return float("nan")
    return number if isfinite(number) else float("nan")
