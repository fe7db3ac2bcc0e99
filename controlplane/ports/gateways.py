"""Gateways that run elsewhere: they come to the daemon, not it to them."""

from typing import Final, Protocol

PATH: Final = "/api/v1/gateways/join"
SILENT_S: Final = 5.0  # who answers no ping for so long is gone
LONGEST: Final = 1 << 28  # bytes of a message: the plan of thousands of models is one


class Line(Protocol):
    """A connection to one gateway: whole messages both ways, in order."""

    async def hear(self) -> bytes | None:
        """Give the next message; None when it has gone."""
        ...

    async def say(self, message: bytes) -> None:
        """Send a message. Raises `UnavailableError` when it has gone."""
        ...

    async def close(self) -> None:
        """End it from here."""
        ...


class Gateways(Protocol):
    """Serves whoever joins."""

    async def attend(self, line: Line) -> None:
        """Tell a gateway what to serve and hear what it counts, until its line ends."""
        ...
