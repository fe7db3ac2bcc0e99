"""Who may do what: the roles, and when a caller needs no token at all.

Bound to loopback without tokens, whoever reaches the port already owns the machine's account: the
caller is the operator. Any other bind, and any store that holds tokens, asks for one.
"""

from dataclasses import dataclass
from enum import IntEnum
from ipaddress import ip_address

from aiohttp import web

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Role(IntEnum):
    """What a caller may do; each role may also do all of the roles below it."""

    GATEWAY = 0  # join as a gateway: it cannot even look, and a viewer cannot join
    VIEWER = 1  # look
    OPERATOR = 2  # pause, pin, run what-ifs
    ADMIN = 3  # change the catalogue, give and take tokens

    @classmethod
    def named(cls, name: str) -> "Role":
        """Give the role of this name, or raise ValueError naming them."""
        try:
            return cls[name.upper()]
        except KeyError:
            raise ValueError(
                f"role: {name!r} is none of gateway, viewer, operator, admin"
            ) from None

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
    """Names by which people reach the daemon besides loopback's and its addresses."""


def access_at(bound: str, hosts: str = "") -> Access:
    """Give the access of a daemon bound to that address; `hosts` are names with commas between."""
    names = frozenset(name.strip().lower() for name in hosts.split(",") if name.strip())
    return Access(loopback=is_loopback(bound), hosts=names | {bound.lower()})


def is_loopback(address: str) -> bool:
    """Say whether an address can be reached from this machine only."""
    if address == "localhost":
        return True
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False  # a name may lead anywhere
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback


def came_by_loopback(request: web.Request) -> bool:
    """Say whether the connection itself ends at a loopback address of ours."""
    name = request.get_extra_info("sockname")
    return not isinstance(name, tuple) or is_loopback(str(name[0]))  # a Unix socket is local


CALLER = web.RequestKey("caller", Caller)
