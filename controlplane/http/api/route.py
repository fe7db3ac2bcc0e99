"""A route of the API, declared once: its handler, checks and documentation follow from this."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
from aiohttp import web

from controlplane.http.access import Caller, Role
from controlplane.http.state import State

PREFIX = "/api/v1"


class Nothing(msgspec.Struct, frozen=True):
    """No parameters, or no body."""


@dataclass(slots=True)
class Call:
    """One request, checked: the caller may make it and every field has its type."""

    request: web.Request
    state: State
    caller: Caller
    params: Any  # of the route's `params`
    body: Any = None  # of the route's `body`
    subject: str = ""  # for the audit log: what was changed …
    detail: str = ""  # … and how
    audited: bool = False  # the store wrote it down itself

    def part(self, name: str) -> str:
        """Give a part of the path."""
        return self.request.match_info[name]


Run: TypeAlias = Callable[[Call], Awaitable[Any]]
Table: TypeAlias = Callable[[Any], Iterable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method of one address."""

    method: str
    path: str  # below PREFIX
    summary: str
    run: Run
    answer: Any  # the type of what `run` gives; None where it answers with something else
    tag: str
    role: Role = Role.VIEWER
    params: type[msgspec.Struct] = Nothing
    open_query: bool = False  # parameters besides these are let through
    body: type[msgspec.Struct] | None = None
    table: Table | None = None  # the rows of its CSV twin
    status: int = 200
    audit: str | None = None  # what the audit log calls it; every change has one
    produces: str = "application/json"
    faults: tuple[int, ...] = ()  # statuses it may answer besides the usual ones

    @property
    def address(self) -> str:
        """The whole path."""
        return PREFIX + self.path

    @property
    def csv_address(self) -> str:
        """The path of its CSV twin."""
        return self.address + ".csv"

    @property
    def name(self) -> str:
        """A name that is its own: method and path in one word."""
        words = self.path.replace("{", "").replace("}", "").strip("/").replace("/", "_")
        return f"{self.method.lower()}_{words.replace('.', '_').replace('-', '_')}"
