"""Asking the running daemon over its API: a second at most, and no answer is an answer."""

import ipaddress
import os
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec
from aiohttp import ClientError, ClientSession, ClientTimeout

from controlplane.cli.stored import place
from controlplane.domain.faults import Fault, FaultsError
from controlplane.settings import folder_beside, whereabouts

WITHIN_S = 2.0


class _Problem(msgspec.Struct):
    detail: str = ""


class NoAnswerError(Exception):
    """The daemon gave nothing to show; the text says why."""


def daemon_url(told: str | None, data: str | None = None) -> str:
    """Say where the daemon is: as told, else where the one of this store said that it answers.

    A store whose daemon does not run is asked for where the options in the environment put one.
    """
    if told:
        return _checked(told).rstrip("/")
    host = os.environ.get("CONTROLPLANE_HOST") or "127.0.0.1"
    port = os.environ.get("CONTROLPLANE_PORT") or "8080"
    said = whereabouts(folder_beside(place(data), os.environ))
    if said is not None:
        found = urlsplit(said)
        host, port = found.hostname or host, str(found.port)
    with suppress(ValueError):  # a name is no address, and that is fine
        bound = ipaddress.ip_address(host)
        if bound.is_unspecified:  # bound everywhere, hence here too
            host = "127.0.0.1" if bound.version == 4 else "::1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _checked(told: str) -> str:
    """Give an address back that a daemon can have."""
    with suppress(ValueError):  # of a port that is none
        found = urlsplit(told)
        if found.scheme in {"http", "https"} and found.hostname and found.port != 0:
            return told
    raise FaultsError([Fault("--url", None, "", told, "must be http://HOST:PORT")])


async def ask(url: str, *paths: str) -> list[Any]:
    """Give what the API answers on these paths; CONTROLPLANE_TOKEN opens what needs a token."""
    token = os.environ.get("CONTROLPLANE_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        async with ClientSession(timeout=ClientTimeout(total=WITHIN_S), headers=headers) as session:
            return [await _get(session, f"{url}/api/v1{path}") for path in paths]
    except (ClientError, OSError, TimeoutError, ValueError) as cause:
        why = str(cause) or f"within {WITHIN_S:.0f} s"
        raise NoAnswerError(f"does not answer ({why})") from cause


async def _get(session: ClientSession, url: str) -> Any:
    async with session.get(url) as answer:
        if answer.status in {401, 403}:
            raise NoAnswerError("wants a token: set CONTROLPLANE_TOKEN")
        if answer.status != 200:
            raise NoAnswerError(
                _refusal(await answer.read()) or f"answers {answer.status} on {url}"
            )
        return msgspec.json.decode(await answer.read())


def _refusal(body: bytes) -> str:
    """Give what the daemon says itself about what was asked; empty where it says nothing."""
    with suppress(msgspec.MsgspecError):
        said = msgspec.json.decode(body, type=_Problem).detail
        return f"answers: {said}" if said else ""
    return ""
