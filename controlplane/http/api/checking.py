"""Turns what a caller sent into typed values, or names every field that is wrong and its rule."""

from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any

import msgspec
from aiohttp import web

from controlplane.domain.faults import Fault
from controlplane.domain.quantities import Instant
from controlplane.http.forms import form_of
from controlplane.http.problems import ProblemError, bad

FORM = "application/x-www-form-urlencoded"
LARGEST_INT = 2**63 - 1  # what a database can compare with
RESERVED = frozenset({"format"})  # understood by every route with a CSV twin


def checked(values: Mapping[str, Any], kind: type[msgspec.Struct]) -> Any:
    """Convert each field by itself, so that all faults are told at once."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    given: dict[str, Any] = {}
    faults = [
        Fault("request", None, name, str(values[name])[:80], f"is none of {_listed(fields)}")
        for name in values
        if name not in fields
    ]
    for name, field in fields.items():
        if name not in values:
            if field.required:
                faults.append(Fault("request", None, name, "", "must be given"))
            continue
        try:
            given[field.name] = msgspec.convert(values[name], field.type, strict=False)
        except msgspec.ValidationError as error:
            faults.append(Fault("request", None, name, str(values[name])[:80], _rule(error)))
            continue
        if isinstance(given[field.name], int) and abs(given[field.name]) > LARGEST_INT:
            rule = f"must be from -{LARGEST_INT} to {LARGEST_INT}"
            faults.append(Fault("request", None, name, str(values[name])[:80], rule))
    if faults:
        first = faults[0]
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise ProblemError(400, f"{first.field}: {first.value!r} {first.rule}{more}", faults=faults)
    return kind(**given)


def _listed(fields: Mapping[str, object]) -> str:
    return ", ".join(sorted(fields)) or "the parameters here: there are none"


def _rule(error: msgspec.ValidationError) -> str:
    """Word msgspec's complaint as a rule: "Expected `int` <= 9" becomes "must be int <= 9"."""
    words = str(error).split(" - at ")[0].replace("`", "")
    if words.startswith("Expected "):
        return "must be " + words.removeprefix("Expected ").split(", got")[0]
    return "is refused: " + words[:1].lower() + words[1:]


def params_of(request: web.Request, kind: type[msgspec.Struct], *, others: bool = False) -> Any:
    """Check the query of a request; `others` lets parameters through that nobody checks."""
    values = {name: value for name, value in request.query.items() if name not in RESERVED}
    if others:
        known = {field.encode_name for field in msgspec.structs.fields(kind)}
        values = {name: value for name, value in values.items() if name in known}
    return checked(values, kind)


async def body_of(request: web.Request, kind: type[msgspec.Struct]) -> Any:
    """Check the body of a request: JSON, or a form as browsers send it."""
    if request.content_type == FORM:
        return checked(dict((await form_of(request)).items()), kind)
    if request.content_type not in {"application/json", "application/octet-stream"}:
        raise ProblemError(
            415, f"Content-Type: {request.content_type[:60]!r} must be application/json or {FORM}"
        )
    raw = await request.read()
    try:
        values = msgspec.json.decode(raw or b"{}")
    except msgspec.DecodeError as error:
        raise ProblemError(400, f"body: is no JSON: {error}") from None
    except RecursionError:
        raise ProblemError(400, "body: is nested too deeply") from None
    if not isinstance(values, dict):
        raise bad("body", type(values).__name__, "must be a JSON object")
    return checked(values, kind)


def instant(field: str, written: str | None, otherwise: Instant) -> Instant:
    """Read a moment: seconds since 1970, or ISO 8601 (UTC where it names no zone)."""
    if written is None or not written:
        return otherwise
    try:
        seconds = float(written)
    except ValueError:
        try:
            moment = datetime.fromisoformat(written)
        except ValueError:
            raise bad(field, written, "must be ISO 8601 or seconds since 1970") from None
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return zoned.timestamp()
    if not isfinite(seconds) or not 0 <= seconds < 1e11:
        raise bad(field, written, "must be seconds from 0 up to 1e11")
    return seconds
