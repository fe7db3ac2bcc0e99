"""A request that cannot be answered as asked, in one sentence: field, value, rule (RFC 9457)."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec
from aiohttp import web

from controlplane.domain.faults import Fault

LONGEST_VALUE = 80
PROBLEM_JSON = "application/problem+json"


class ProblemError(Exception):
    """Raised anywhere below a request; the error middleware turns it into an answer."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        faults: Sequence[Fault] = (),
        lines: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`detail` is shown to the caller: one sentence, no secrets, no internals."""
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.faults = tuple(faults)
        self.lines = tuple(lines)  # faults of a file, one line each
        self.headers = dict(headers or {})


def bad(field: str, value: object, rule: str) -> ProblemError:
    """Give the 400 for one wrong field."""
    fault = Fault("request", None, field, str(value)[:LONGEST_VALUE], rule)
    return ProblemError(400, f"{field}: {fault.value!r} {rule}", faults=(fault,))


def missing(what: str, name: object) -> ProblemError:
    """Give the 404 for something that is not there."""
    return ProblemError(404, f"{what}: {str(name)[:200]!r} does not exist")


def title(status: int) -> str:
    """Give the status in words."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"


def problem_body(path: str, error: ProblemError) -> dict[str, Any]:
    """Give the RFC 9457 document."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": title(error.status),
        "status": error.status,
        "detail": error.detail,
        "instance": path,
    }
    if error.faults:
        body["errors"] = [fault._asdict() for fault in error.faults]
    if error.lines:
        body["lines"] = list(error.lines)
    return body


def problem_response(path: str, error: ProblemError) -> web.Response:
    """Give the answer as problem+json."""
    return web.Response(
        status=error.status,
        body=msgspec.json.encode(problem_body(path, error)),
        content_type=PROBLEM_JSON,
        headers=error.headers,
    )
