"""Pause, pin, isolate and what ends them: first what it would do, then, by a button, doing it.

The preview is a page of its own, so it works without scripts; with them it opens in a dialog.
"""

from collections.abc import Mapping
from typing import get_args

from aiohttp import web

from controlplane.clock import wall
from controlplane.domain.overrides import FLEET, Override
from controlplane.domain.quantities import ModelName
from controlplane.http.access import Role
from controlplane.http.api.overrides import LONGEST, Change, Preview, Verb, plan, shows
from controlplane.http.auth import caller_of, require
from controlplane.http.forms import form_of
from controlplane.http.login import own_address
from controlplane.http.pages.page import Page, frame
from controlplane.http.pages.rendering import RENDERER, answer
from controlplane.http.pages.view import view_of
from controlplane.http.problems import bad, missing
from controlplane.http.state import STATE, State

ADDRESS = "/overrides/{subject}/{verb}"
EVERYTHING = "all"  # in addresses, for the subject *
VERBS: tuple[Verb, ...] = get_args(Verb)
SHEET = Page("", "override", lambda _state, _view: _nothing(), "fleet")


async def _nothing() -> dict[str, object]:
    return {}


async def preview(request: web.Request) -> web.Response:
    """Show what it would do."""
    require(request, Role.OPERATOR)
    state, view = request.app[STATE], view_of(request)
    made = await _plan(request, state, request.query)
    context = {**_sheet(state, made), "next": own_address(request.query.get("next", "/"))}
    if "HX-Request" in request.headers:
        return answer(await request.app[RENDERER].html(state, "parts/override.html", view, context))
    whole = {**await frame(state, view, SHEET), **context}
    return answer(await request.app[RENDERER].html(state, "override.html", view, whole))


async def do(request: web.Request) -> web.Response:
    """Do it, and go back to where it was asked for."""
    require(request, Role.OPERATOR)
    state = request.app[STATE]
    form = await form_of(request)
    made = await _plan(request, state, form)
    who = caller_of(request).name
    await state.overrides.put(made.after or Override(subject=made.subject, by=who, at=wall()))
    for shown in shows(made.subject):
        state.shared.forget(shown)
    state.wake()
    raise web.HTTPSeeOther(own_address(str(form.get("next", "/"))))


async def _plan(request: web.Request, state: State, given: Mapping[str, object]) -> Preview:
    subject = request.match_info["subject"]
    subject = FLEET if subject == EVERYTHING else subject
    verb = next((one for one in VERBS if one == request.match_info["verb"]), None)
    if verb is None:
        raise missing("action", request.match_info["verb"])
    written, reason = str(given.get("replicas", "")), str(given.get("reason", "")).strip()
    if written and (not written.isdecimal() or len(written) > 6):
        raise bad("replicas", written, "must be a whole number")
    replicas = int(written) if written and verb == "pin" else None
    if verb == "pin" and replicas is None:
        standing = state.history.plan.get(ModelName(subject))
        replicas = standing.replicas if standing else None
    if len(reason) > LONGEST:
        raise bad("reason", reason[:40], f"must have at most {LONGEST} characters")
    wanted = Change(verb=verb, replicas=replicas, reason=reason if verb == "isolate" else "")
    return await plan(state, subject, wanted, caller_of(request).name)


def _sheet(state: State, made: Preview) -> dict[str, object]:
    model = state.in_force.catalogue.models.get(ModelName(made.subject))
    scaling = model.policy.scaling if model else None
    return {"plan": made, "bounds": (scaling.min, scaling.max) if scaling else None}


def add_routes(app: web.Application) -> None:
    """Add the sheet and its button."""
    app.router.add_get(ADDRESS, preview)
    app.router.add_post(ADDRESS, do)
