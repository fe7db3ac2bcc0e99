"""Who may do what: three roles, and when a caller needs no token at all.

Bound to loopback without tokens, whoever reaches the port already owns the machine's account: the
caller is the operator. Any other bind, and any store that holds tokens, asks for one.
"""

from dataclasses import dataclass
from enum import IntEnum

from aiohttp import web

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Role(IntEnum):
    """What a caller may do; each role may also do all of the roles below it."""

    VIEWER = 1  # look
    OPERATOR = 2  # pause, pin, run what-ifs
    ADMIN = 3  # change the catalogue, give and take tokens

    @classmethod
    def named(cls, name: str) -> "Role":
        """Give the role of this name, or raise ValueError naming the three."""
        try:
            return cls[name.upper()]
        except KeyError:
            raise ValueError(f"role: {name!r} is none of viewer, operator, admin") from None

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request. `name` goes to the audit log."""

    name: str
    role: Role


LOCAL = Caller("local", Role.OPERATOR)


@dataclass(frozen=True, slots=True)
class Access:
    """Where the daemon is bound and by which names it may be called."""

    loopback: bool = True
    """Bound to a loopback address only."""
    hosts: frozenset[str] = frozenset()
    """Names by which people reach the daemon besides loopback's and the address it is bound to."""

    def knows(self, host: str) -> bool:
        """Say whether a Host header (without its port) names this daemon."""
        return host in LOOPBACK_NAMES or host in self.hosts


CALLER = web.RequestKey("caller", Caller)
