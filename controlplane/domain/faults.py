"""A fault in what somebody wrote: where, which field, what stands there and the rule it breaks.

Whoever reads input (fleet file, scenario, CSV, options) collects all faults and raises them at
once; the command line turns them into one line each and exit code 2.
"""

from collections.abc import Iterable
from typing import NamedTuple

_LONGEST_VALUE = 80


class Fault(NamedTuple):
    """One thing that is wrong; printed as `file:line: field: value: rule`."""

    source: str
    line: int | None  # None where no line can be named, e.g. an option
    field: str  # dotted path, e.g. models.llama-70b.policy.scaling.min; may be empty
    value: str  # as it was written; empty where nothing was
    rule: str

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        value = " ".join(self.value.split())
        if len(value) > _LONGEST_VALUE:
            value = f"{value[: _LONGEST_VALUE - 1]}…"
        return ": ".join(part for part in (place, self.field, value, self.rule) if part)


class FaultsError(ValueError):
    """Input that cannot be used; its text is one line per fault, in the order of the file."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        """Keep the faults; at least one is expected."""
        self.faults = tuple(sorted(faults, key=lambda fault: fault.line or 0))
        super().__init__("\n".join(str(fault) for fault in self.faults))

    @property
    def lines(self) -> tuple[str, ...]:
        """One line per fault."""
        return tuple(str(fault) for fault in self.faults)
