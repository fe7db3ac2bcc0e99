"""The Kubernetes API as plain JSON: what tests see and set by another way than the adapter.

Any kind of object can be created, applied, read and watched; names of resources are asked from the
API server itself.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp

_CONTENT = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}
Manifest = dict[str, Any]


class RefusedError(Exception):
    """The API server said no."""

    def __init__(self, status: int, said: str) -> None:
        self.status = status
        super().__init__(f"{status}: {said}")


class Api:
    """A caller of the API server."""

    def __init__(self, server: str, token: str, ca: Path) -> None:
        self._server = server
        self._headers = {"Authorization": f"Bearer {token}"}
        self._tls = ssl.create_default_context(cafile=ca)
        self._session: aiohttp.ClientSession | None = None
        self._kinds: dict[tuple[str, str], tuple[str, bool]] = {}

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            self._server,
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=60),
            connector=aiohttp.TCPConnector(ssl=self._tls, limit=0),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()

    @asynccontextmanager
    async def _call(
        self, method: str, path: str, **more: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        if self._session is None:
            raise RuntimeError("use it as `async with`")
        async with self._session.request(method, path, **more) as answer:
            if answer.status >= 400:
                text = await answer.text()
                try:
                    said = json.loads(text)["message"]
                except (ValueError, KeyError, TypeError):
                    said = text
                raise RefusedError(answer.status, said)
            yield answer

    async def _json(self, method: str, path: str, **more: Any) -> Manifest:
        async with self._call(method, path, **more) as answer:
            decoded: Manifest = await answer.json()
            return decoded

    async def text(self, path: str) -> str:
        """Read what is not JSON, such as /metrics."""
        async with self._call("GET", path) as answer:
            return await answer.text()

    async def get(self, path: str, **parameters: str) -> Manifest:
        """Read one object or a list."""
        return await self._json("GET", path, params=parameters)

    async def items(self, path: str, **parameters: str) -> list[Manifest]:
        """Read the objects of a list."""
        items: list[Manifest] = (await self.get(path, **parameters))["items"]
        return items

    async def names(self, root: str) -> set[str]:
        """Give the names of the resources of a group and version, none where it is unknown."""
        try:
            return {one["name"] for one in (await self.get(root))["resources"]}
        except RefusedError as error:
            if error.status in {404, 503}:
                return set()
            raise

    async def post(self, path: str, body: Mapping[str, Any]) -> Manifest:
        """Create below a path."""
        return await self._json("POST", path, json=body)

    async def patch(self, path: str, body: Any, how: str = "merge", **parameters: str) -> Manifest:
        """Patch; `how` is merge, strategic, json or apply."""
        kind = {"Content-Type": _CONTENT[how]}
        data = json.dumps(body)
        return await self._json("PATCH", path, data=data, headers=kind, params=parameters)

    async def delete(self, path: str, grace_s: int | None = None, uid: str | None = None) -> None:
        """Delete; what is gone already is fine."""
        body: Manifest = {"propagationPolicy": "Background"}
        if grace_s is not None:
            body["gracePeriodSeconds"] = grace_s
        if uid is not None:
            body["preconditions"] = {"uid": uid}
        try:
            await self._json("DELETE", path, json=body)
        except RefusedError as error:
            if error.status not in {404, 409}:
                raise

    async def create(self, manifest: Manifest) -> Manifest:
        """Create an object of any kind."""
        collection, _ = await self._places(manifest)
        return await self._json(
            "POST", collection, json=manifest, params={"fieldValidation": "Strict"}
        )

    async def apply(self, manifest: Manifest, manager: str = "tests") -> Manifest:
        """Apply an object of any kind on the server's side."""
        _, place = await self._places(manifest)
        return await self.patch(
            place, manifest, "apply", fieldManager=manager, force="true", fieldValidation="Strict"
        )

    async def apply_text(self, place: str, text: str) -> Manifest:
        """Apply YAML as it stands at the place of its object."""
        kind, how = {"Content-Type": _CONTENT["apply"]}, {"fieldManager": "tests", "force": "true"}
        return await self._json(
            "PATCH", place, data=BytesIO(text.encode()), headers=kind, params=how
        )

    async def remove(self, manifest: Manifest) -> None:
        """Delete an object of any kind."""
        _, place = await self._places(manifest)
        await self.delete(place)

    async def _places(self, manifest: Manifest) -> tuple[str, str]:
        version, kind = manifest["apiVersion"], manifest["kind"]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if (version, kind) not in self._kinds:
            for resource in (await self.get(root))["resources"]:
                if "/" not in resource["name"]:
                    found = resource["name"], resource["namespaced"]
                    self._kinds[version, resource["kind"]] = found
        plural, namespaced = self._kinds[version, kind]
        meta = manifest["metadata"]
        inside = f"/namespaces/{meta.get('namespace', 'default')}" if namespaced else ""
        collection = f"{root}{inside}/{plural}"
        return collection, f"{collection}/{meta.get('name', '')}"

    async def watch(self, path: str, **parameters: str) -> AsyncGenerator[tuple[str, Manifest]]:
        """Give all there is as ADDED, then what happens, until the server ends the watch."""
        listed = await self.get(path, **parameters)
        for item in listed["items"]:
            yield "ADDED", item
        since = listed["metadata"]["resourceVersion"]
        async with aclosing(self.follow(path, since, **parameters)) as events:
            async for event in events:
                yield event

    async def follow(
        self, path: str, since: str, **parameters: str
    ) -> AsyncGenerator[tuple[str, Manifest]]:
        """Give what happens after a version, until the server ends the watch."""
        asked = {**parameters, "watch": "true", "resourceVersion": since}
        forever = aiohttp.ClientTimeout(total=None, sock_read=None)
        async with (
            self._call("GET", path, params=asked, timeout=forever) as answer,
            aclosing(_lines(answer.content)) as lines,
        ):
            try:
                async for line in lines:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        raise RefusedError(event["object"]["code"], event["object"]["message"])
                    yield event["type"], event["object"]
            finally:
                # Whoever has seen enough leaves at once: a farewell in TLS could outlive the loop.
                if answer.connection and answer.connection.transport:
                    answer.connection.transport.abort()

    async def until(
        self, path: str, holds: Callable[[Manifest], Any], *, timeout_s: float = 45.0
    ) -> Manifest:
        """Await that one object is as wished, and give it."""
        collection, name = path.rsplit("/", 1)
        last: Manifest = {}

        async def look() -> Manifest:
            nonlocal last
            while True:
                selector = {"fieldSelector": f"metadata.name={name}"}
                async with aclosing(self.watch(collection, **selector)) as events:
                    async for kind, seen in events:
                        last = seen
                        if kind != "DELETED" and holds(seen):
                            return seen

        try:
            return await asyncio.wait_for(look(), timeout_s)
        except TimeoutError:
            state = json.dumps(last.get("status", last))[:2000]
            raise AssertionError(
                f"{path} is not as wished after {timeout_s:g} s: {state}"
            ) from None


async def _lines(stream: aiohttp.StreamReader) -> AsyncGenerator[bytes]:
    """Split at newlines; an object may be longer than the reader's own limit of a line."""
    rest = b""
    async for chunk in stream.iter_any():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line
