"""One request over HTTP, whole or streamed, from its first byte to its last."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import aiohttp
import msgspec

from controlplane.domain.priorities import PRIORITIES
from controlplane.emulation.load.outcomes import Book, Ending, Outcome
from controlplane.emulation.load.wishes import Wish
from controlplane.render.envoy.names import PRIORITY, REASON

PATH = "/v1/chat/completions"
PROMPT = ({"role": "user", "content": "How is the fleet?"},)
LAST = b"data: [DONE]"
KEPT_BYTES = 64  # of a stream, to see whether it came to its end


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where requests go, and as whom."""

    name: str
    url: str
    model: str
    keys: Mapping[int, str] = field(default_factory=dict)
    """The secret of each class's key, by rank."""


class Sender:
    """Sends to one target and keeps the book of it."""

    def __init__(
        self, session: aiohttp.ClientSession, target: Target, now: Callable[[], float]
    ) -> None:
        """Send over a session; `now` gives the seconds since the start."""
        self.target, self.book = target, Book()
        self._session, self._now = session, now
        self._url = target.url.rstrip("/") + PATH
        self._headers = [_headers(rank, target.keys) for rank in range(len(PRIORITIES))]

    async def send(self, wish: Wish) -> None:
        """Send one request and note what became of it."""
        self.book.sent += 1
        out = Outcome(wish, self._now(), 0.0, Ending.UNFINISHED)
        try:
            await self._ask(wish, out)
        except (aiohttp.ClientError, OSError, TimeoutError) as cause:
            out.ending, out.reason = Ending.BROKEN, type(cause).__name__
        finally:
            out.end = self._now()
            self.book.outcomes.append(out)

    async def _ask(self, wish: Wish, out: Outcome) -> None:
        body = msgspec.json.encode(
            {
                "model": self.target.model,
                "messages": PROMPT,
                "max_tokens": wish.tokens,
                "stream": wish.streams,
            }
        )
        async with self._session.post(
            self._url, data=body, headers=self._headers[wish.rank]
        ) as answer:
            if answer.status == 200:
                complete = await (self._streamed(answer, out) if wish.streams else _read(answer))
                out.ending = Ending.SERVED if complete else Ending.BROKEN
                out.reason = "" if complete else "incomplete"
                return
            await answer.read()
            out.reason = reason(answer.status, answer.headers)
            refused = answer.status < 500 or REASON in answer.headers
            out.ending = Ending.REFUSED if refused else Ending.BROKEN

    async def _streamed(self, answer: aiohttp.ClientResponse, out: Outcome) -> bool:
        """Read a stream; say whether it came to its end."""
        last = b""
        async for piece in answer.content.iter_any():
            if out.first_byte is None:
                out.first_byte = self._now()
            last = (last + piece)[-KEPT_BYTES:]
        return LAST in last


async def _read(answer: aiohttp.ClientResponse) -> bool:
    await answer.read()  # one that is cut short raises
    return True


def reason(status: int, headers: Mapping[str, str]) -> str:
    """Say why a request was refused, in the gateway's words where it says any."""
    return headers.get(REASON) or f"status-{status}"


def _headers(rank: int, keys: Mapping[int, str]) -> dict[str, str]:
    said = {"content-type": "application/json", PRIORITY: PRIORITIES[rank].value}
    if rank in keys:
        said["authorization"] = f"Bearer {keys[rank]}"
    return said


async def reachable(session: aiohttp.ClientSession, targets: Sequence[Target]) -> None:
    """Raise OSError, which says it in a sentence, where nobody listens."""
    for target in targets:
        try:
            async with asyncio.timeout(10), session.get(target.url.rstrip("/") + "/v1/models"):
                pass
        except (aiohttp.ClientError, TimeoutError) as cause:
            why = str(cause) or "no word within 10 s"
            raise OSError(f"load: {target.url} does not answer: {why}") from cause
