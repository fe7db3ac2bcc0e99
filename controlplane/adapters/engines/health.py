"""When an engine counts as healthy, in the mode its model's settings name.

No engine's health says that it can generate: that is what the warm-up is for (law 7).
"""

from typing import Any

import msgspec
from aiohttp import ClientSession

from controlplane.adapters.engines.calls import Answer, NoAnswerError, ask, served_name, url
from controlplane.domain.serving import Health
from controlplane.ports import EngineAt

NONE = ""


async def ill(session: ClientSession, engine: EngineAt) -> str:
    """Ask an engine how it is: the empty text, or one sentence that says why it is not healthy."""
    health = engine.serving.health
    path = health.path
    if health.how == "kserve-v2":
        path = f"/v2/models/{served_name(engine)}/ready"
    try:
        answer = await ask(session, url(engine, path, health.port), health.timeout_s)
        if answer.status != 200:
            return f"{path} answers {answer.status}{_said(answer)}"
        if health.how == "json":
            return _field_wrong(answer, health)
        if health.how == "models":
            return await _not_listed(session, engine)
    except NoAnswerError as cause:
        return str(cause)
    return NONE


def _field_wrong(answer: Answer, health: Health) -> str:
    """Compare the field as JSON, so that true, 1 and "true" are three things."""
    try:
        said: Any = msgspec.json.decode(answer.body)
        wanted: Any = msgspec.json.decode(health.equals)
    except msgspec.DecodeError:
        return f"{health.path} answers no JSON, and {health.field} was to be {health.equals}"
    if not isinstance(said, dict) or health.field not in said:
        return f"{health.path} names no {health.field}, which was to be {health.equals}"
    value = said[health.field]
    if type(value) is type(wanted) and value == wanted:
        return NONE
    written = msgspec.json.encode(value).decode()
    return f"{health.path} says {health.field} is {written}, not {health.equals}"


async def _not_listed(session: ClientSession, engine: EngineAt) -> str:
    path, name = "/v1/models", served_name(engine)
    answer = await ask(session, url(engine, path), engine.serving.health.timeout_s)
    if answer.status != 200:
        return f"{path} answers {answer.status}{_said(answer)}"
    try:
        listed = msgspec.json.decode(answer.body, type=_Models)
    except msgspec.DecodeError:
        return f"{path} answers no list of models"
    names = [model.id for model in listed.data]
    if name in names:
        return NONE
    return f"{path} does not list {name}, only {', '.join(names) or 'nothing'}"


class _Listed(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Listed]


def _said(answer: Answer) -> str:
    """Quote the beginning of a short answer, for it often names the cause."""
    text = " ".join(answer.body[:200].decode("utf-8", "replace").split())
    return f": {text[:100]}" if text and not text.startswith("<") else ""
