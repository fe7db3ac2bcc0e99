"""Which language a reader gets, and its message catalogue.

English is written in the templates themselves; every other language is a gettext PO file, read at
start. Translators edit text files, nothing is compiled or committed twice.
"""

from functools import cache
from io import BytesIO

from aiohttp import web
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations

from controlplane.shipped import shipped

LANGUAGES = {"en": "English", "zh": "中文"}
LOCALES = {"en": "en_GB", "zh": "zh_Hans_CN"}
DEFAULT = "en"
COOKIE = "language"


@cache
def translations(language: str) -> NullTranslations:
    """Give a language's messages; English needs none."""
    path = shipped("web") / "locale" / f"{language}.po"
    if language not in LANGUAGES or not path.is_file():
        return NullTranslations()
    with path.open("rb") as source:
        catalogue = read_po(source, locale=LOCALES[language])
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Translations(compiled, domain="messages")


def chosen_language(request: web.Request) -> str:
    """Give what the reader chose, else what the browser asks for, else English."""
    chosen = request.cookies.get(COOKIE)
    if chosen in LANGUAGES:
        return chosen
    for wish in _wishes(request.headers.get("Accept-Language", "")):
        if wish in LANGUAGES:
            return wish
    return DEFAULT


def _wishes(header: str) -> list[str]:
    """List the languages of an Accept-Language header, most wanted first."""
    wishes: list[tuple[float, str]] = []
    for part in header[:200].split(","):
        name, _, weight = part.strip().partition(";q=")
        try:
            wishes.append((-float(weight or 1), name.split("-")[0].lower()))
        except ValueError:
            continue
    return [name for _, name in sorted(wishes, key=lambda wish: wish[0])]
