"""One resource, listed and then watched: its picture is never older than it says.

A list comes in pages; a watch goes on from the list's version. Bookmarks keep that version young,
so that a broken watch goes on where it was; only when the API server no longer knows the version
(410) is everything listed anew, and the old picture stands until the new one is whole. A watch on
which not even a bookmark comes for too long is taken for broken. Pauses grow with each failure in
a row and are spread by chance, so that many daemons do not come back at one moment.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Generic, NoReturn, Protocol, TypeVar

import aiohttp
import msgspec
import structlog

from controlplane.adapters.kubernetes.client import Api
from controlplane.adapters.kubernetes.refusals import (
    Asked,
    ForbiddenError,
    GoneError,
    RefusedError,
    refusal,
)
from controlplane.adapters.kubernetes.resources import Place
from controlplane.ports import UnavailableError

R = TypeVar("R", bound=msgspec.Struct)

PAGE = 500
STALE_S = 15.0  # an older picture is none
SILENT_S = 100.0  # bookmarks come about once a minute
LASTS_S = 300  # the API server ends a watch after about so long; it goes on from its version
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 5.0  # once the API server is back, it is seen back so soon
FORBIDDEN_PAUSE_S = 30.0  # permissions are granted by people
AT_ONCE = 50  # objects between which others get their turn
RELIST_AFTER = 3  # failures in a row, after which the version is not tried again
TOO_SHORT_S = 1.0  # a watch that ends sooner is no watch

log = structlog.stdlib.get_logger(__name__)


class Kept(Protocol):
    """What is kept of an object."""

    @property
    def key(self) -> tuple[str, str]:
        """Give its namespace and name."""
        ...

    @property
    def version(self) -> int:
        """Give its resourceVersion."""
        ...

    @property
    def telling(self) -> tuple[object, ...]:
        """Give what is worth a look when it changes."""
        ...


K = TypeVar("K", bound=Kept)


class _About(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")
    namespace: str = ""
    name: str = ""


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Any(msgspec.Struct):
    metadata: _About = _About()


class _Page(msgspec.Struct):
    items: list[msgspec.Raw]
    metadata: _About


class _Status(msgspec.Struct):
    code: int = 0


_EVENT = msgspec.json.Decoder(_Event).decode
_ANY = msgspec.json.Decoder(_Any).decode
_PAGE = msgspec.json.Decoder(_Page).decode
_STATUS = msgspec.json.Decoder(_Status).decode


@dataclass(frozen=True, slots=True)
class Kind(Generic[R, K]):
    """How a resource is read: its shape on the wire, and what is kept of it (perhaps nothing)."""

    raw: type[R]
    keep: Callable[[R], K | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """How patient a watch is; tests are less so."""

    stale_s: float = STALE_S
    silent_s: float = SILENT_S
    lasts_s: int = LASTS_S
    first_s: float = FIRST_PAUSE_S
    longest_s: float = LONGEST_PAUSE_S
    forbidden_s: float = FORBIDDEN_PAUSE_S
    page: int = PAGE


class Watch(Generic[R, K]):
    """The picture of one resource."""

    def __init__(
        self,
        api: Api,
        place: Place,
        kind: Kind[R, K],
        stir: Callable[[], None],
        chance: Random,
        pauses: Pauses | None = None,
    ) -> None:
        """Know nothing yet. `stir` is called whenever something telling changed."""
        self.place = place
        self.items: dict[tuple[str, str], K] = {}
        self.revision = 0  # grows whenever something kept changed
        self.synced = False  # listed whole at least once
        self.lists = 0  # how often everything was listed
        self.failure = "nothing was listed yet"
        self.forbidden = False
        self.first = asyncio.Event()  # the first answer came, good or bad
        self._api = api
        self._kind = kind
        self._stir = stir
        self._chance = chance
        self._pauses = pauses or Pauses()
        self._decode = msgspec.json.Decoder(kind.raw).decode
        self._version = ""
        self._failures = 0
        self._broken_at: float | None = None

    @property
    def age_s(self) -> float:
        """Give how old the picture is at most: 0 while the watch stands."""
        if self._broken_at is None:
            return 0.0
        return asyncio.get_running_loop().time() - self._broken_at

    async def run(self) -> NoReturn:
        """Look for ever."""
        while True:
            try:
                if not self._version:
                    await self._list()
                await self._follow()
            except GoneError as cause:
                log.info("listing anew", what=self.place.full, cause=str(cause))
                self._version = ""
                self._broke(str(cause))
            except (UnavailableError, RefusedError) as cause:
                self.forbidden = isinstance(cause, ForbiddenError)
                self._broke(str(cause))
            except Exception as cause:  # a bug costs the picture, never the daemon
                log.exception("watch failed", what=self.place.full)
                self._version = ""
                self._broke(f"{type(cause).__name__}: {cause}")
            if self._failures:
                await asyncio.sleep(self._pause())

    async def _list(self) -> None:
        """Read everything; the picture changes only when it is whole."""
        asked = Asked("list", self.place)
        found: dict[tuple[str, str], K] = {}
        more = ""
        while True:
            query = {"limit": str(self._pauses.page), "continue": more}
            body = await self._api.page(asked, query)
            page = _decoded(_PAGE, body)
            for count, raw in enumerate(page.items, 1):
                kept = self._kind.keep(_decoded(self._decode, raw))
                if kept is not None:
                    found[kept.key] = kept
                if count % AT_ONCE == 0:
                    await asyncio.sleep(0)
            more = page.metadata.continue_
            if not more:
                break
        changed = found.keys() != self.items.keys() or any(
            kept.telling != self.items[key].telling for key, kept in found.items()
        )
        self.items, self._version = found, page.metadata.resource_version
        self.revision += 1
        self.lists += 1
        if changed or not self.synced:
            self._stir()

    async def _follow(self) -> None:
        """Watch from the version on, until the API server ends it."""
        pauses = self._pauses
        # Spread, so that the watches of one daemon do not end together.
        lasts = int(pauses.lasts_s * self._chance.uniform(0.7, 1.0)) or 1
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(lasts),
        }
        asked = Asked("watch", self.place)
        began = asyncio.get_running_loop().time()
        async with self._api.stream(asked, query, pauses.silent_s) as stream:
            self._stands()
            await self._read(stream)
        if asyncio.get_running_loop().time() - began < min(TOO_SHORT_S, lasts / 2):
            raise UnavailableError(f"{asked}: the API server ended it at once")
        self._failures = 0

    async def _read(self, stream: aiohttp.StreamReader) -> None:
        count = 0
        while line := await _line(stream):
            self._take(_decoded(_EVENT, line))
            self._failures = 0
            count += 1
            if count % AT_ONCE == 0:  # what is buffered is read without waiting
                await asyncio.sleep(0)

    def _take(self, event: _Event) -> None:
        """Bring one event into the picture."""
        if event.type == "ERROR":
            status = _decoded(_STATUS, event.object)
            raise refusal(Asked("watch", self.place), status.code or 500, bytes(event.object))
        about = _decoded(_ANY, event.object).metadata
        self._version = about.resource_version
        if event.type == "BOOKMARK":
            return
        key = (about.namespace, about.name)
        kept = None
        if event.type != "DELETED":
            kept = self._kind.keep(_decoded(self._decode, event.object))
        before = self.items.get(key)
        if kept is None and before is None:
            return
        if kept is None:
            del self.items[key]
        elif before is not None and kept.version < before.version:
            return  # our own write was taken in already, and this is from before it
        else:
            self.items[key] = kept
        self.revision += 1
        if kept is None or before is None or kept.telling != before.telling:
            self._stir()

    def _stands(self) -> None:
        if not self.synced or self.failure:
            log.info("watching", what=self.place.full, objects=len(self.items))
        self.synced, self.failure, self.forbidden, self._broken_at = True, "", False, None
        self.first.set()

    def _broke(self, why: str) -> None:
        if not self.failure or not self.first.is_set():
            log.warning("watch broken", what=self.place.full, cause=why)
        self._failures += 1
        if self._failures >= RELIST_AFTER:  # e.g. an etcd restored to before this version
            self._version = ""
        self.failure = why
        if self._broken_at is None:
            self._broken_at = asyncio.get_running_loop().time()
        self.first.set()

    def _pause(self) -> float:
        longest = self._pauses.forbidden_s if self.forbidden else self._pauses.longest_s
        grown = min(longest, self._pauses.first_s * 2.0 ** min(self._failures - 1, 16))
        return grown * self._chance.uniform(0.5, 1.0)


X = TypeVar("X")


def _decoded(decode: Callable[[bytes | msgspec.Raw], X], body: bytes | msgspec.Raw) -> X:
    try:
        return decode(body)
    except msgspec.MsgspecError as cause:
        raise UnavailableError(f"the API server's answer cannot be read: {cause}") from cause


async def _line(stream: aiohttp.StreamReader) -> bytes:
    try:
        return await stream.readline()
    except ValueError as cause:  # longer than any object may be
        raise UnavailableError(f"the API server's answer cannot be read: {cause}") from cause
