"""The documentation is whole: nothing is orphaned, no link leads nowhere, what is made is fresh."""

import re
from pathlib import Path

import click
import pytest

from controlplane.domain.reasons import ReasonCode
from tests.cli.reference import every_command
from tests.sentences import reference

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
EVERY = dict(every_command())
FENCED = re.compile(r"```.*?```", re.DOTALL)


def links(page: Path) -> list[str]:
    return LINK.findall(FENCED.sub("", page.read_text("utf-8")))


def anchors(page: Path) -> set[str]:
    """Give the anchors of a page's headings, as forges make them."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in links(page):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)

    assert broken == []


def test_the_index_leads_to_every_page() -> None:
    listed = set(links(ROOT / "docs" / "index.md"))

    assert [page.name for page in DOCS if page.name not in listed | {"index.md"}] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_begins_with_its_title(page: Path) -> None:
    assert page.read_text("utf-8").startswith("# ")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_is_named_exists(page: Path) -> None:
    named = re.findall(r"`((?:controlplane|tests|docs|deploy|migrations|web)/[\w./-]+)`",
                       page.read_text("utf-8"))  # fmt: skip

    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_is_shown_exists(page: Path) -> None:
    code = re.findall(r"```.*?```|`[^`\n]+`", page.read_text("utf-8"), re.DOTALL)
    shown = re.findall(r"\bcontrolplane ([a-z]+)\b(?: ([a-z]+)\b)?", "\n".join(code))
    groups = {name for name, command in EVERY.items() if isinstance(command, click.Group)}
    named = {f"{name} {inner}".strip() if name in groups else name for name, inner in shown}

    assert sorted(named - EVERY.keys()) == []


def test_docs_reasons_is_what_the_help_page_says() -> None:
    """Write it anew: make docs."""
    assert (ROOT / "docs" / "reasons.md").read_text("utf-8") == reference.page()


def test_docs_reasons_has_every_code() -> None:
    explained = [code for table in reference.SECTIONS.values() for code in table]

    assert sorted(explained) == sorted(ReasonCode)


def test_make_says_what_each_target_does() -> None:
    """A target without a word after ## is missing from `make help`."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"^([a-z]+):(?!=)(.*)$", makefile, re.MULTILINE)

    assert [name for name, rest in targets if "## " not in rest] == []
