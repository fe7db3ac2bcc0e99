"""What can go wrong with an engine: set at the start (`--fault NAME=VALUE`) and while it runs."""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec


class Faults(msgspec.Struct, kw_only=True):
    """The faults in force; as they are made, the engine is well."""

    hang: bool = False
    """Generations begin and never end; health goes on saying that all is well."""
    error_rate: float = 0.0
    """Share of generations that end with 500."""
    slow: float = 1.0
    """Generations take so many times longer."""
    mute: bool = False
    """Every connection is accepted, and nothing is ever answered."""
    mute_metrics: bool = False
    """Only the metrics are never answered."""
    unhealthy: bool = False
    """Health answers as the engine does when it is broken."""
    wrong_json: bool = False
    """Bodies that should be JSON are cut short."""
    html: bool = False
    """Everything answers 200 with a page, as a proxy without its upstream does."""
    html_metrics: bool = False
    """Only the metrics do."""
    metrics_status: int | None = None
    """Metrics answer with this status and the body `0`."""
    nan_metrics: bool = False
    """Every gauge is NaN."""
    hide: str = ""
    """Metrics whose names contain this are not exported."""
    die_after_s: float | None = None
    """The process ends so many seconds from now, at once …"""
    exit_code: int = 1
    """… with this code; 137 is what an engine killed for want of memory leaves."""


class FaultBox:
    """Holds the faults in force, and says when they change."""

    def __init__(self, faults: Faults | None = None) -> None:
        """Begin with these."""
        self.now = faults or Faults()
        self._changed = asyncio.Event()

    def change(self, by_name: Mapping[str, Any]) -> Faults:
        """Set those that are named, leave the others. ValueError names what is wrong."""
        unknown = sorted(set(by_name) - set(Faults.__struct_fields__))
        if unknown:
            known = ", ".join(Faults.__struct_fields__)
            raise ValueError(f"{unknown[0]}: no such fault; there are {known}")
        merged = {**msgspec.to_builtins(self.now), **by_name}
        self.now = msgspec.convert(merged, Faults, strict=False)
        self._changed.set()
        self._changed = asyncio.Event()
        return self.now

    async def changed(self) -> None:
        """Wait for the next change."""
        await self._changed.wait()


def parse(written: tuple[str, ...]) -> Faults:
    """Read `NAME` or `NAME=VALUE` from the command line; ValueError names what is wrong."""
    box = FaultBox()
    for one in written:
        name, _, value = one.partition("=")
        box.change({name: value or "true"})
    return box.now
