"""Numbers that options take: ports, processes, and figures that are finite."""

from math import isfinite
from typing import Any

import click

PORT = click.IntRange(1, 65535)
PROCESSES = click.IntRange(1, 64)


class Figure(click.FloatRange):
    """A number in a range; nan and inf are in none."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read one."""
        found: float = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value} is not finite", param, ctx)
        return found


SECONDS = Figure(min=0, max=604_800)
