"""What a running Envoy says about itself, over its admin socket."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import aiohttp
import msgspec

from controlplane.domain.quantities import ModelName
from controlplane.render.envoy.names import LENT

TIMEOUT_S = 2.0
ACTIVE = "upstream_rq_active"
MEMBERS = "membership_total"
UNDER_WAY = "http.models.downstream_rq_active"
AGAIN_S = 0.005
EJECTED = "outlier_detection.ejections_active"


class Admin:
    """Asks one Envoy. Whatever cannot be had is None, never an error: it may be starting."""

    def __init__(self, path: str) -> None:
        """Ask over this socket."""
        self._path = path

    async def ready(self) -> bool:
        """Say whether it serves what it was told to serve."""
        return (await self._ask("GET", "/ready") or "").strip() == "LIVE"

    async def running(self) -> dict[str, int] | None:
        """Give how many requests of each model are under way to engines."""
        return await self._gauges(ACTIVE)

    async def ejected(self) -> dict[ModelName, int] | None:
        """Give how many replicas of each model are left alone, for they failed."""
        counts = await self._gauges(EJECTED)
        if counts is None:
            return None
        return {ModelName(name): count for name, count in counts.items()}

    async def members(self, clusters: Sequence[str], within_s: float) -> bool:
        """Wait until each of these clusters has somebody in it, for so long at most."""
        named = "|".join(re.escape(name) for name in clusters)
        query = urlencode({"format": "json", "filter": f"^cluster\\.({named})\\.{MEMBERS}$"})
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while True:
                    said = await self._ask("GET", f"/stats?{query}")
                    stats = msgspec.json.decode(said).get("stats", ()) if said is not None else ()
                    if sum(stat["value"] > 0 for stat in stats) >= len(clusters):
                        return True
                    await asyncio.sleep(AGAIN_S)
        return False

    async def cluster(self, name: str) -> dict[str, Any] | None:
        """Give a cluster as it is in force; None where Envoy does not tell, or has none."""
        asked = {"resource": "dynamic_active_clusters", "name_regex": f"^{re.escape(name)}$"}
        said = await self._ask("GET", f"/config_dump?{urlencode(asked)}")
        if said is None:
            return None
        found = msgspec.json.decode(said).get("configs", ())
        return next((one["cluster"] for one in found if one["cluster"]["name"] == name), None)

    async def _gauges(self, what: str) -> dict[str, int] | None:
        """Give one figure of every cluster, added up by model."""
        pattern = what.replace(".", "\\.")
        said = await self._ask("GET", f"/stats?format=json&filter=^cluster\\..*\\.{pattern}$")
        if said is None:
            return None
        counts: dict[str, int] = {}
        for stat in msgspec.json.decode(said).get("stats", ()):
            name = str(stat["name"])[len("cluster.") : -len(what) - 1].removesuffix(LENT)
            counts[name] = counts.get(name, 0) + int(stat["value"])
        return counts

    async def counter(self, name: str) -> int:
        """Give one counter; 0 where it is not known."""
        said = await self._ask("GET", f"/stats?format=json&filter=^{name}$")
        stats = msgspec.json.decode(said).get("stats", ()) if said is not None else ()
        return int(stats[0]["value"]) if stats else 0

    async def under_way(self) -> int | None:
        """Give how many requests it has, those that wait included; None where it does not say."""
        said = await self._ask("GET", f"/stats?format=json&filter=^{UNDER_WAY}$")
        if said is None:
            return None
        return sum(int(stat["value"]) for stat in msgspec.json.decode(said).get("stats", ()))

    async def take_leave(self) -> None:
        """Let it say that it is not ready, and have every connection closed after its answer."""
        await self._ask("POST", "/healthcheck/fail")

    async def quit(self) -> None:
        """End it."""
        await self._ask("POST", "/quitquitquit")

    async def drain(self) -> None:
        """Take no new connections."""
        await self._ask("POST", "/drain_listeners")

    async def _ask(self, method: str, path: str) -> str | None:
        limit = aiohttp.ClientTimeout(total=TIMEOUT_S)
        connector = aiohttp.UnixConnector(self._path)
        try:
            async with (
                aiohttp.ClientSession(connector=connector, timeout=limit) as session,
                session.request(method, f"http://envoy{path}") as answer,
            ):
                return await answer.text()
        except (TimeoutError, aiohttp.ClientError, OSError):
            return None
