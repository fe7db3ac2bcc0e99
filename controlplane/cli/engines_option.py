"""How a command is told where engines answer: MODEL=HOST:PORT, with /SLOTS if they differ."""

import re
from typing import NamedTuple

import click

FORM = re.compile(
    r"(?P<model>[^=]+)=(?P<host>\[[^]]+\]|[^:/]+):(?P<port>[0-9]{1,5})(?:/(?P<slots>[1-9][0-9]{0,5}))?"
)


class EngineArgument(NamedTuple):
    """One engine that runs already."""

    model: str
    host: str
    port: int
    slots: int | None


class EngineType(click.ParamType[EngineArgument]):
    """Reads one."""

    name = "engine"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> EngineArgument:
        """Read MODEL=HOST:PORT[/SLOTS]."""
        if isinstance(value, EngineArgument):
            return value
        match = FORM.fullmatch(str(value))
        if match is None:
            self.fail(
                f"{str(value)[:80]} is not MODEL=HOST:PORT or MODEL=HOST:PORT/SLOTS", param, ctx
            )
        slots = match["slots"]
        host = match["host"].strip("[]")
        return EngineArgument(
            match["model"], host, int(match["port"]), None if slots is None else int(slots)
        )


ENGINE = EngineType()
