"""Asking the running daemon over its API: a second at most, and no answer is an answer."""

import ipaddress
import os
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec
from aiohttp import ClientError, ClientSession, ClientTimeout

from controlplane.cli.stored import place
from controlplane.settings import folder_beside, whereabouts

WITHIN_S = 2.0


class NoAnswerError(Exception):
    """The daemon gave nothing to show; the text says why."""


def daemon_url(told: str | None, data: str | None = None) -> str:
    """Say where the daemon is: as told, else where the one of this store said that it answers.

    A store whose daemon does not run is asked for where the options in the environment put one.
    """
    if told:
        return told.rstrip("/")
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
            raise NoAnswerError(f"answers {answer.status} on {url}")
        return msgspec.json.decode(await answer.read())
