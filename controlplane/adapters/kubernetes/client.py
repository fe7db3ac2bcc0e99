"""What is asked of the API server: typed, in time, at a bounded pace, with one kind of failure.

Every write is checked strictly (an unknown field is an error, not dropped with a warning) and
carries the field manager's name. Patches say what they are: the library would send a dict to a
custom resource as a JSON patch, which the API server does not take.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import msgspec
from kubernetes_asyncio.config import ConfigException

from controlplane.adapters.kubernetes.connecting import Door, connect
from controlplane.adapters.kubernetes.pace import Pace
from controlplane.adapters.kubernetes.refusals import Asked, away, refusal
from controlplane.adapters.kubernetes.resources import Place
from controlplane.domain.marks import MANAGER
from controlplane.ports import UnavailableError

T = TypeVar("T")
Query = Mapping[str, str]
Manifest = dict[str, Any]

JSON = "application/json"
MERGE = "application/merge-patch+json"  # custom resources know this one and no strategic merge
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"

REQUEST_S = 10.0
CONNECT_S = 5.0
_PAGES = aiohttp.ClientTimeout(
    total=30.0, sock_connect=CONNECT_S
)  # a slow list must come to its end


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One HTTP request."""

    method: str
    path: str
    query: Query = {}
    body: Any = None
    form: str = JSON  # content type of the body


class Api:
    """One API server, asked by everybody in this daemon at one common pace."""

    def __init__(self, door: Door, pace: Pace | None = None, request_s: float = REQUEST_S) -> None:
        """Ask through this door."""
        self._door = door
        self._pace = pace or Pace()
        self._limits = aiohttp.ClientTimeout(total=request_s, sock_connect=CONNECT_S)

    @property
    def host(self) -> str:
        """Give the API server's address."""
        return self._door.host

    async def get(self, place: Place, kind: type[T]) -> T:
        """Give one object in this shape; `MissingError` when there is none."""
        asked = Asked("get", place)
        return _read(asked, await self._ask(asked, "GET"), kind)

    async def list(self, place: Place, kind: type[T], labels: str = "", page: int = 500) -> list[T]:
        """Give all objects in this shape, page by page."""
        asked, more = Asked("list", place), ""
        found: list[T] = []
        while True:
            query = {"limit": str(page), "labelSelector": labels, "continue": more}
            listed = _read(asked, await self.page(asked, query), _Listed)
            found += [_read(asked, item, kind) for item in listed.items]
            more = listed.metadata.get("continue") or ""
            if not more:
                return found

    async def create(self, place: Place, manifest: Manifest) -> Manifest:
        """Create an object; `ConflictError` when it is there already."""
        asked = Asked("create", place)
        return _read(asked, await self._ask(asked, "POST", manifest, query=_writing()), Manifest)

    async def replace(self, place: Place, manifest: Manifest) -> Manifest:
        """Put an object in another's place; the manifest's resourceVersion is the condition."""
        asked = Asked("update", place)
        return _read(asked, await self._ask(asked, "PUT", manifest, query=_writing()), Manifest)

    async def patch(
        self,
        place: Place,
        change: Manifest | Sequence[Manifest],
        *,
        form: str = MERGE,
        dry_run: bool = False,
    ) -> Manifest:
        """Change an object; a `metadata.resourceVersion` in a merge patch is a condition."""
        asked, query = Asked("patch", place), _writing(dry_run=dry_run)
        body = await self._ask(asked, "PATCH", change, form=form, query=query)
        return _read(asked, body, Manifest)

    async def apply(
        self, place: Place, manifest: Manifest, *, force: bool = False, dry_run: bool = False
    ) -> Manifest:
        """Make an object so (server-side apply); a field of another manager is a conflict."""
        asked = Asked("patch", place)
        query = {**_writing(dry_run=dry_run), "force": "true" if force else "false"}
        body = await self._ask(asked, "PATCH", manifest, form=APPLY, query=query)
        return _read(asked, body, Manifest)

    async def delete(
        self, place: Place, *, uid: str | None = None, grace_s: int | None = None
    ) -> None:
        """Delete an object, if it is still the one with this uid."""
        options: Manifest = {"propagationPolicy": "Background"}
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        if grace_s is not None:
            options["gracePeriodSeconds"] = grace_s
        await self._ask(Asked("delete", place), "DELETE", options)

    async def alive(self, within_s: float) -> None:
        """Return when the API server says that it lives; `UnavailableError` otherwise."""
        limits = aiohttp.ClientTimeout(total=within_s)
        async with self._opened(Request(method="GET", path="/livez"), limits) as response:
            body = await response.read()
            if response.status >= 500:
                said = body[:200].decode("utf-8", "replace")
                raise UnavailableError(f"the API server says that it is not well: {said}")

    async def page(self, asked: Asked, query: Query) -> bytes:
        """Give one page of a list as it came; empty parameters are left out."""
        said = {name: value for name, value in query.items() if value}
        return await self._ask(asked, "GET", query=said, limits=_PAGES)

    @asynccontextmanager
    async def stream(
        self, asked: Asked, query: Query, silent_s: float
    ) -> AsyncIterator[aiohttp.StreamReader]:
        """Open a watch; it fails when nothing comes for so long."""
        await self._pace()
        limits = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=silent_s)
        request = Request(method="GET", path=asked.place.path, query=query)
        async with self._opened(request, limits) as response:
            if response.status != 200:
                raise refusal(asked, response.status, await response.read())
            yield response.content

    def apart(self, request_s: float) -> "Api":
        """Give a caller that waits for nobody else's requests, and gives up after so long."""
        return Api(self._door, request_s=request_s)

    async def close(self) -> None:
        """Close all connections."""
        await self._door.close()

    async def _ask(
        self,
        asked: Asked,
        method: str,
        body: Any = None,
        *,
        form: str = JSON,
        query: Query | None = None,
        limits: aiohttp.ClientTimeout | None = None,
    ) -> bytes:
        await self._pace()
        request = Request(
            method=method, path=asked.place.path, query=query or {}, body=body, form=form
        )
        async with self._opened(request, limits or self._limits) as response:
            answer = await response.read()
            if not 200 <= response.status <= 299:
                raise refusal(asked, response.status, answer)
            return answer

    @asynccontextmanager
    async def _opened(
        self, request: Request, limits: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request; whatever goes wrong on the way is `UnavailableError`."""
        response: aiohttp.ClientResponse | None = None
        try:
            await self._door.renew()
            response = await self._door.client.call_api(
                request.path,
                request.method,
                query_params=list(request.query.items()),
                header_params={"Accept": JSON, "Content-Type": request.form},
                body=request.body,
                auth_settings=["BearerToken"],
                _preload_content=False,
                _request_timeout=limits,
            )
            yield response
        except (aiohttp.ClientError, TimeoutError, OSError, ConfigException) as cause:
            raise away(self.host, cause) from cause
        finally:
            if response is not None:
                response.release()  # an unread watch is closed by it


async def open_api(kubeconfig: Path | None) -> Api:
    """Give the API of a kubeconfig, or of the cluster this runs in."""
    return Api(await connect(kubeconfig))


class _Listed(msgspec.Struct):
    items: list[msgspec.Raw]
    metadata: dict[str, Any] = {}


def _writing(*, dry_run: bool = False) -> dict[str, str]:
    query = {"fieldManager": MANAGER, "fieldValidation": "Strict"}
    return {**query, "dryRun": "All"} if dry_run else query


def _read(asked: Asked, body: bytes | msgspec.Raw, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.MsgspecError as cause:
        raise UnavailableError(f"{asked}: the answer cannot be read: {cause}") from cause
