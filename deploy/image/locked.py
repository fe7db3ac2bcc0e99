"""Prints the part of requirements.lock that an image needs, hashes and all.

The lock file has what the tests need too, and says of each package who asked for it. Run beside
pyproject.toml: `python locked.py product` gives what the daemon imports, with PostgreSQL's driver
and Envoy, and `python locked.py build` what makes its wheel.
"""

import re
import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

ENTRY = re.compile(r"^(?P<name>[a-z0-9][a-z0-9._-]*)==", re.MULTILINE)
NAME = re.compile(r"[A-Za-z0-9._-]+")
BY = re.compile(r"^ +# (?:via )? *(?P<name>[a-z0-9][a-z0-9._-]*)$", re.MULTILINE)


def entries(lock: str) -> Mapping[str, str]:
    """Give each package's lines; one may have several versions, each for its own Pythons."""
    found: dict[str, str] = {}
    starts = [(entry["name"], entry.start()) for entry in ENTRY.finditer(lock)]
    ends = [start for _, start in starts[1:]] + [len(lock)]
    for (name, start), end in zip(starts, ends, strict=True):
        found[name] = found.get(name, "") + lock[start:end]
    return found


def needed(lock: str, names: Collection[str]) -> Iterator[str]:
    """Give the lines of these packages and of all that they ask for."""
    known = entries(lock)
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise SystemExit(f"not in the lock file: {', '.join(unknown)}")
    wanted = set(names)
    while True:
        asked = {name for name, lines in known.items() if wanted & set(BY.findall(lines))}
        if asked <= wanted:
            return (lines for name, lines in known.items() if name in wanted)
        wanted |= asked


def roots(project: Mapping[str, Any], what: str) -> set[str]:
    """Give what the project itself asks for."""
    if what == "build":
        asked = project["build-system"]["requires"]
    else:
        declared = project["project"]
        extras = declared["optional-dependencies"]
        asked = declared["dependencies"] + extras["postgresql"] + extras["envoy"]
    return {re.sub(r"[-_.]+", "-", NAME.findall(one)[0]).lower() for one in asked}


if __name__ == "__main__":
    declared = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))
    lock = Path("requirements.lock").read_text("utf-8")
    sys.stdout.writelines(needed(lock, roots(declared, sys.argv[1])))
