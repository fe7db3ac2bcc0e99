"""Writes down who changed what through a page, and what was refused. The API's routes do their own.

Pages whose doing is written down by what they call (the store notes pauses and pins, applying a
catalogue notes its version) are noted here only when they are refused.
"""

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

from controlplane.clock import wall
from controlplane.http.access import CALLER
from controlplane.http.auth import API, PUBLIC
from controlplane.http.guard import changes
from controlplane.http.problems import ProblemError
from controlplane.http.state import STATE, State
from controlplane.ports import AuditEntry

log = structlog.get_logger(__name__)

NOTED_ELSEWHERE = frozenset({"/overrides/{subject}/{verb}", "/settings"})


async def note(state: State, entry: AuditEntry) -> None:
    """Append an entry, and say so in the log."""
    await state.audit.record(entry)
    log.info("audit", who=entry.who, what=entry.what, subject=entry.subject, ending=entry.ending)


@web.middleware
async def audited(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Note every change a page makes or is refused."""
    if not changes(request) or request.path.startswith(API) or request.path in PUBLIC:
        return await handler(request)
    try:
        response = await handler(request)
    except web.HTTPRedirection:
        await _note(request, "done")
        raise
    except ProblemError as refusal:
        await _note(request, f"refused: {refusal}")
        raise
    await _note(request, "done")
    return response


async def _note(request: web.Request, ending: str) -> None:
    resource = request.match_info.route.resource
    route = resource.canonical if resource is not None else request.path
    if CALLER not in request or (ending == "done" and route in NOTED_ELSEWHERE):
        return
    entry = AuditEntry(
        at=wall(),
        who=request[CALLER].name,
        what=f"{request.method} {route}",
        subject="/".join(request.match_info.values()),
        detail="",
        ending=ending,
    )
    await note(request.app[STATE], entry)
