"""HTTP to an engine: every call has its time-out, and every failure is one sentence."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector
from yarl import URL

from controlplane.domain.serving import Serving
from controlplane.ports import EngineAt

LARGEST = 8 * 2**20  # bytes of an answer; a page of metrics is a few hundred thousand at most


class Answer(NamedTuple):
    """What came back."""

    status: int
    body: bytes
    content_type: str


class NoAnswerError(Exception):
    """Nothing came back; its text says why."""


def open_session() -> ClientSession:
    """Open the one session for all engines.

    Engines are asked by their pods' addresses, for which no certificate is ever made out; so those
    that speak HTTPS are not verified. They are asked for figures, and told nothing secret.
    """
    return ClientSession(
        connector=TCPConnector(limit=0, ssl=False, ttl_dns_cache=None),
        headers={"User-Agent": "controlplane"},
        auto_decompress=True,
        read_bufsize=2**18,
    )


async def ask(
    session: ClientSession,
    url: str,
    within_s: float,
    *,
    post: Mapping[str, str] | bytes | None = None,
) -> Answer:
    """Ask once: GET, or POST of parameters or of a JSON body."""
    timeout = _timeout(within_s)
    method = "GET" if post is None else "POST"
    body = post if isinstance(post, bytes) else None
    headers = {"Content-Type": "application/json"} if body is not None else None
    params = post if isinstance(post, Mapping) else None
    try:
        async with session.request(
            method, _parsed(url), timeout=timeout, data=body, headers=headers, params=params
        ) as response:
            if (response.content_length or 0) > LARGEST:
                raise NoAnswerError(f"{url} answers {response.content_length} bytes")
            return Answer(response.status, await response.read(), response.content_type)
    except TimeoutError as cause:
        raise NoAnswerError(f"{url} did not answer within {within_s:g} s") from cause
    except (ClientError, OSError, ValueError) as cause:
        said = " ".join(str(cause).split()) or type(cause).__name__
        raise NoAnswerError(f"{url} cannot be asked: {said}") from cause


@lru_cache(maxsize=4096)
def _parsed(url: str) -> URL:
    return URL(url)  # a tenth of what a call costs


@lru_cache(maxsize=64)
def _timeout(within_s: float) -> ClientTimeout:
    return ClientTimeout(total=within_s)


def url(engine: EngineAt, path: str, port: int | None = None) -> str:
    """Give the address of a path of an engine."""
    serving: Serving = engine.serving
    host = f"[{engine.host}]" if ":" in engine.host else engine.host
    scheme = "https" if serving.tls else "http"
    return f"{scheme}://{host}:{port or serving.port}{path}"


def served_name(engine: EngineAt) -> str:
    """Give the name the engine knows its model by."""
    return engine.serving.served_name or engine.model
