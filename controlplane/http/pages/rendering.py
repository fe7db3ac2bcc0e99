"""Templates and a view become HTML. One Jinja environment per language, made at start."""

import asyncio
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import aiohttp_jinja2
from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from controlplane.http.pages import format as as_read
from controlplane.http.pages import pictures
from controlplane.http.pages.filters import filters
from controlplane.http.pages.language import LANGUAGES, translations
from controlplane.http.pages.view import View, address_with
from controlplane.http.pages.words import Words, deciding
from controlplane.http.state import State
from controlplane.shipped import shipped

ENVIRONMENTS = {
    language: web.AppKey(f"templates_{language}", Environment) for language in LANGUAGES
}
HEADERS = {
    # Stricter than the application's own: these pages have no style attribute either.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "Vary": "Cookie, Accept-Language, HX-Request",
}


class Renderer:
    """The templates of every language."""

    def __init__(self, app: web.Application) -> None:
        """Make the environments; templates that name something unknown fail loudly."""
        self._environments = {
            language: _environment(app, language, key) for language, key in ENVIRONMENTS.items()
        }

    async def html(
        self, state: State, template: str, view: View, context: Mapping[str, Any]
    ) -> str:
        """Render a template for a reader, in a thread: large fleets must not stop the loops."""
        environment = self._environments[view.language]
        known = {**facts(state, view), **context}
        return await asyncio.to_thread(lambda: environment.get_template(template).render(known))


RENDERER: web.AppKey[Renderer] = web.AppKey("renderer", Renderer)


def _environment(app: web.Application, language: str, key: web.AppKey[Environment]) -> Environment:
    environment = aiohttp_jinja2.setup(
        app,
        app_key=key,
        loader=FileSystemLoader(shipped("web") / "templates"),
        extensions=["jinja2.ext.i18n"],
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.install_gettext_translations(  # type: ignore[attr-defined]  # of the extension
        translations(language), newstyle=True
    )
    environment.filters.update(as_read.PLAIN)
    environment.filters.update(filters(language))
    environment.globals.update(
        languages=LANGUAGES,
        language=language,
        static=static_address,
        spark=pictures.spark,
        meter=pictures.meter,
        lane_parts=pictures.lane_parts,
        cell_places=pictures.cell_places,
        address_with=address_with,
        both=as_read.both,
        **_words(Words(language)),
    )
    return environment


def answer(page: str) -> web.Response:
    """Answer with a page."""
    return web.Response(text=page, content_type="text/html", headers=HEADERS)


def facts(state: State, view: View) -> Mapping[str, Any]:
    """Give what every template may use."""
    catalogue = state.in_force.catalogue
    return {
        "view": view,
        "now": state.clock.now(),
        "currency": catalogue.currency,
        "colours": pictures.colours(catalogue.models),
    }


def _words(words: Words) -> Mapping[str, Any]:
    return {
        "absence": words.absence,
        "subject_name": words.subject,
        "priority_name": words.priority,
        "lane_name": words.lane,
        "stage_name": words.stage,
        "ending_name": words.ending,
        "loop_name": words.loop,
        "breaker_name": words.breaker,
        "evidence_name": words.evidence,
        "effect": words.effect,
        "seen_text": words.seen,
        "note_text": words.note,
        "done_step": words.action,
        "change": words.change,
        "because": words.because,
        "deciding": deciding,
        "headline": words.headline,
        "cell_title": words.cell_title,
        "node_title": words.node_title,
        "lanes_title": words.lanes_title,
        "listed": words.names,
    }


_addresses: dict[str, str] = {}


def static_address(name: str) -> str:
    """Give a static file's address, with its content in it so that browsers may keep it."""
    address = _addresses.get(name)
    if address is None:
        path = shipped("web") / "static" / name
        mark = blake2b(path.read_bytes(), digest_size=5).hexdigest() if path.is_file() else "0"
        address = _addresses[name] = f"/static/{name}?v={mark}"
    return address
