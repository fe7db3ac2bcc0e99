"""Settings: the catalogue in force and its history, checking and applying, access, audit, loops."""

import asyncio

from aiohttp import web

from controlplane.clock import wall
from controlplane.http.access import Role
from controlplane.http.api.catalogue import LARGEST, FleetFile, faults_of
from controlplane.http.auth import caller_of, require
from controlplane.http.forms import form_of
from controlplane.http.pages.page import Context, Page, frame
from controlplane.http.pages.rendering import RENDERER, answer
from controlplane.http.pages.view import View, view_of
from controlplane.http.problems import bad
from controlplane.http.reads.catalogue import catalogue_diff, catalogue_view
from controlplane.http.state import STATE, State
from controlplane.ports import AuditEntry

AUDIT_SHOWN = 50


async def context(state: State, view: View) -> Context:
    """Gather the page; tokens and audit only for those who may see them."""
    seen = await catalogue_view(state)
    newest = [row.version for row in seen.versions[:2]]
    newer = _number(view.get("newer")) or (newest[0] if newest else 0)
    older = _number(view.get("older")) or (newest[1] if len(newest) > 1 else 0)
    diff = await catalogue_diff(state, older, newer) if older and newer else None
    now = asyncio.get_running_loop().time()
    return {
        "catalogue": seen,
        "diff": diff,
        "tokens": await state.tokens.tokens() if view.admin else None,
        "audit": await state.audit.entries(AUDIT_SHOWN) if view.operator else None,
        "loops": [(name, beat, now - beat.last) for name, beat in state.heartbeats.beats.items()],
        "written": None,
        "found": None,
        "wall": wall(),
    }


async def check(request: web.Request) -> web.Response:
    """Check a fleet file from the form; apply it where that is asked for and it has no fault."""
    state, view = request.app[STATE], view_of(request)
    form = await form_of(request)
    text = str(form.get("text", ""))
    if not 0 < len(text) <= LARGEST:
        raise bad("text", len(text), f"must have from 1 to {LARGEST} characters")
    written = FleetFile(text=text, source=str(form.get("source", "")) or "settings page")
    faults = await faults_of(state, written)
    if form.get("do") == "apply":
        require(request, Role.ADMIN)
        if not faults:
            await _apply(request, state, written)
    gathered = {**await frame(state, view, PAGE), **await context(state, view)}
    gathered |= {"written": written, "found": faults}
    return answer(await request.app[RENDERER].html(state, PAGE.template, view, gathered))


async def _apply(request: web.Request, state: State, written: FleetFile) -> None:
    who = caller_of(request).name
    version = await state.apply_catalogue(written.text, written.source, who)
    await state.audit.record(
        AuditEntry(
            at=wall(),
            who=who,
            what="apply catalogue",
            subject=written.source,
            detail=f"version {version.version}",
            ending="done",
        )
    )
    state.wake()
    raise web.HTTPSeeOther("/settings")


def _number(written: str) -> int:
    return int(written) if written.isdecimal() and len(written) < 9 else 0


def add_routes(app: web.Application) -> None:
    """Add the form's target."""
    app.router.add_post("/settings", check)


PAGE = Page("/settings", "settings", context)
