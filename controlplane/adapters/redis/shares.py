"""Slots shared out by Redis or Valkey: one function per model and ask, all in one batch.

The function is Lua, so an ask is one step for everybody. Keys carry the model in braces: in a
cluster all that concerns a model lies in one place. A gateway that dies keeps its slots until its
lease ends, and not longer.
"""

from collections.abc import Mapping
from pathlib import Path

from redis.asyncio import Redis
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from controlplane.domain.quantities import ModelName
from controlplane.ports import UnavailableError
from controlplane.ports.shares import Grant, Wish

LEASE_S = 3.0
TIMEOUT_S = 0.25  # a slower answer is none: nobody waits for it
SHARE, LEAVE = "controlplane_share", "controlplane_leave"
FUNCTIONS = Path(__file__).with_name("slots.lua")


class RedisShares:
    """Shares slots with whoever asks the same server."""

    def __init__(self, url: str, gateway: str, lease_s: float = LEASE_S) -> None:
        """Ask this server under this name; nothing is connected yet."""
        self._client: Redis = Redis.from_url(
            url,
            socket_timeout=TIMEOUT_S,
            socket_connect_timeout=TIMEOUT_S,
            retry=Retry(NoBackoff(), 0),  # the next ask is the retry
        )
        self._gateway, self._lease_ms = gateway, int(lease_s * 1000)
        self._known: set[ModelName] = set()
        self._loaded = False

    async def ask(self, wishes: Mapping[ModelName, Wish]) -> Mapping[ModelName, Grant]:
        """Say what is wanted, and hear what is given."""
        try:
            if not self._loaded:
                await self._load()
            try:
                given = await self._batch(wishes)
            except ResponseError:  # a server that began anew knows no functions
                await self._load()
                given = await self._batch(wishes)
        except (RedisError, OSError, TimeoutError) as cause:
            self._loaded = False
            raise UnavailableError(f"redis: {str(cause) or type(cause).__name__}") from cause
        self._known.update(wishes)
        return given

    async def leave(self) -> None:
        """Give everything back, if anybody hears."""
        try:
            async with self._client.pipeline(transaction=False) as batch:
                for model in self._known:
                    batch.fcall(LEAVE, 1, key(model), self._gateway)
                await batch.execute()
        except (RedisError, OSError, TimeoutError):
            pass  # the leases end by themselves
        finally:
            await self._client.aclose()

    async def _load(self) -> None:
        await self._client.function_load(FUNCTIONS.read_text("ascii"), replace=True)
        self._loaded = True

    async def _batch(self, wishes: Mapping[ModelName, Wish]) -> dict[ModelName, Grant]:
        async with self._client.pipeline(transaction=False) as batch:
            for model, wish in wishes.items():
                most = wish.slots if wish.most is None else wish.most
                figures = (
                    *(self._lease_ms, wish.slots, wish.held),
                    *(*wish.running, *wish.waiting, most),
                )
                batch.fcall(SHARE, 1, key(model), self._gateway, *figures)
            answers = await batch.execute()
        return {
            model: Grant(int(slots), int(gateways))
            for model, (slots, gateways) in zip(wishes, answers, strict=True)
        }


def refused_address(url: str) -> str | None:
    """Say what is wrong with a server's address, if anything is."""
    try:
        found = parse_url(url)
    except ValueError:
        found = {}
    if not (found.get("host") or found.get("path")):
        return "must be redis://HOST:PORT, rediss://HOST:PORT or unix://PATH"
    return None


def key(model: ModelName) -> str:
    """Name a model's hash."""
    return f"controlplane:{{{model}}}:slots"
