"""Rules of the house that no linter knows: file sizes, names, docstrings, completeness."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

from controlplane.domain.reasons import ReasonCode

ROOT = Path(__file__).parents[1]
MOST_LINES = 300
BANNED_FILES = {
    "utils", "util", "helpers", "helper", "common", "misc", "base", "manager", "core", "types",
    "service", "services",
}  # fmt: skip
DOMAIN_WORDS = {"NoData"}  # a kind of sample, not a bag of things
BANNED_ENDINGS = ("Manager", "Handler", "Processor", "Service", "Info", "Data", "Helper")
TOP_LEVEL = {
    ".ci", ".dockerignore", ".gitignore", ".npmrc", "CHANGELOG.md", "Dockerfile", "LICENSE",
    "Makefile", "README.md", "controlplane", "deploy", "docs", "migrations", "package-lock.json",
    "package.json", "pyproject.toml", "requirements.lock", "tests", "web",
}  # fmt: skip


def tracked(*patterns: str) -> list[Path]:
    """Files that git knows or would add; a copy without git is taken whole."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout.split()  # fmt: skip
    return sorted(ROOT / name for name in listed if (ROOT / name).is_file())


PYTHON = tracked("*.py")
PRODUCT = [path for path in PYTHON if path.is_relative_to(ROOT / "controlplane")]
SOURCES = [*PYTHON, *tracked("web/*.js", "web/*.css", "web/*.html", "web/*.mjs")]


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def test_there_are_files_to_check() -> None:
    assert len(PRODUCT) > 100


@pytest.mark.parametrize("path", SOURCES, ids=names(SOURCES))
def test_a_file_has_one_idea_and_at_most_300_lines(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", PRODUCT, ids=names(PRODUCT))
def test_every_module_says_why_it_is_there(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8")))

    assert docstring
    assert docstring.splitlines()[0].strip()


def test_no_file_is_named_after_nothing_in_particular() -> None:
    assert [str(path) for path in PYTHON if path.stem in BANNED_FILES] == []


def test_no_class_is_named_after_nothing_in_particular() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in PRODUCT
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
        and node.name.endswith(BANNED_ENDINGS)
        and node.name not in DOMAIN_WORDS
    ]

    assert found == []


def test_the_top_level_is_what_the_readme_says() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in tracked()} <= TOP_LEVEL


def test_nothing_is_left_to_be_done_later() -> None:
    marker = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError")
    left = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in SOURCES
        if path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if marker.search(line)
    ]

    assert left == []


def test_no_mock_stands_where_the_real_thing_runs() -> None:
    mocks = re.compile(r"unittest\.mock|MagicMock|AsyncMock|monkeypatch\.setattr")
    tests = [p for p in PYTHON if p.is_relative_to(ROOT / "tests") and p != Path(__file__)]

    assert [str(path) for path in tests if mocks.search(path.read_text("utf-8"))] == []


def test_only_clock_reads_time() -> None:
    calls = re.compile(r"\btime\.(time|monotonic|perf_counter)\(|datetime\.(now|utcnow)\(")
    found = [
        str(path.relative_to(ROOT))
        for path in PRODUCT
        if path.name != "clock.py" and calls.search(path.read_text("utf-8"))
    ]

    assert found == []


@pytest.mark.parametrize("code", ReasonCode)
def test_every_reason_code_is_given_by_the_product_and_named_by_a_test(code: ReasonCode) -> None:
    name = f"ReasonCode.{code.name}"
    product = [p for p in PRODUCT if "render" not in p.parts and p.name != "reasons.py"]
    tests = [p for p in PYTHON if p.is_relative_to(ROOT / "tests") and "sentences" not in p.parts]

    assert any(name in path.read_text("utf-8") for path in product), "nothing gives it"
    assert any(name in path.read_text("utf-8") for path in tests), "no test names it"


def test_the_lock_file_names_no_registry() -> None:
    for lock in (ROOT / "requirements.lock", ROOT / "package-lock.json"):
        addresses = re.findall(r"https?://\S+", lock.read_text("utf-8"))
        assert [a for a in addresses if "registry" in a or "pypi" in a or "index" in a] == []


def test_every_dependency_is_explained() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    block = project.split("dependencies = [", 1)[1].split("]\n", 1)[0]
    explained = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    wanted = re.findall(r'"([a-z0-9._-]+?)(?:\[[a-z]+\])?>=', block)

    assert wanted
    assert [name for name in wanted if name not in explained] == []
