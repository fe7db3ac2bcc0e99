"""Templates are safe under the policy they are served with, and speak every language."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from controlplane.http.pages.language import LANGUAGES, translations
from controlplane.shipped import shipped

WEB = shipped("web")
PAGES = Path(__file__).parents[2] / "controlplane/http/pages"
TEMPLATES = sorted((WEB / "templates").rglob("*.html"))
SCRIPTS = sorted((WEB / "static/js").glob("*.js"))
TRANSLATED = [language for language in LANGUAGES if language != "en"]


def messages() -> dict[Any, tuple[str, ...]]:
    """Every message the pages use, as gettext's own extractor finds them."""
    found: dict[Any, tuple[str, ...]] = {}
    jinja = {"extensions": "jinja2.ext.i18n", "trimmed": "true"}
    for folder, method, options in (
        (PAGES, [("**.py", "python")], {}),
        (WEB / "templates", [("**.html", "jinja2.ext:babel_extract")], {"**.html": jinja}),
    ):
        for _, _, message, _, _ in extract_from_dir(folder, method, options):
            found[message] = ()
    return found


def catalogue(language: str) -> Catalog:
    return read_po(BytesIO((WEB / f"locale/{language}.po").read_bytes()), locale="zh_Hans_CN")


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_carries_a_script_a_handler_or_a_style(template: Path) -> None:
    """The policy forbids them; a browser would drop them without a word."""
    text = template.read_text()

    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert not re.search(r"\son[a-z]+=", text)
    assert not re.search(r"\sstyle=|<style", text)
    assert "|safe" not in text
    assert "http://" not in text.replace("http://www.w3.org", "")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_put_no_text_in_as_markup_and_evaluate_nothing(script: Path) -> None:
    text = script.read_text()

    assert "innerHTML" not in text
    assert "eval(" not in text
    assert "new Function" not in text


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_message_lacks_a_translation(language: str) -> None:
    known = catalogue(language)

    for message in messages():
        entry = known.get(message[0] if isinstance(message, tuple) else message)
        assert entry is not None, f"{language}: {message!r} is not in the catalogue"
        assert all(entry.string) if isinstance(entry.string, tuple) else entry.string, message
        assert not entry.fuzzy


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_translation_is_left_over_or_loses_a_blank(language: str) -> None:
    wanted = {m[0] if isinstance(m, tuple) else m for m in messages()}

    for entry in catalogue(language):
        if not entry.id:
            continue
        forms = entry.id if isinstance(entry.id, tuple) else (entry.id,)
        source = str(forms[0])
        assert source in wanted, f"{source!r} is used nowhere"
        said = entry.string[0] if isinstance(entry.string, tuple) else entry.string
        blanks = set(re.findall(r"%\(\w+\)s|\{\w+\}", str(forms[-1])))
        assert blanks == set(re.findall(r"%\(\w+\)s|\{\w+\}", str(said))), source


def test_english_needs_no_catalogue_and_chinese_speaks() -> None:
    assert translations("en").gettext("Fleet") == "Fleet"
    assert translations("zh").gettext("Fleet") == "机群"
    assert translations("zh").ngettext("One request waits", "%(num)s requests wait", 3) == (
        "有 %(num)s 个请求在等"
    )
