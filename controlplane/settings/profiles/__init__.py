"""Named profiles: whole policies to start from, each one a YAML file beside this one.

A profile uses the settings everybody has. `controlplane` is the defaults, `saving` and `service`
are its two leanings, `seed-…` are the policies of three field reports.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

import msgspec

from controlplane.domain.faults import FaultsError
from controlplane.domain.policies import STRICT, ModelPolicy
from controlplane.settings.document import Document, Tree, parse
from controlplane.settings.reading import adapter, attempt

DEFAULT = "controlplane"
NAMES = (DEFAULT, "saving", "service", "seed-000", "seed-001", "seed-004")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A whole policy under a name."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    summary: str
    """One sentence: whose policy this is."""
    notes: tuple[str, ...] = ()
    """What of the original is not built yet, or departs from it."""
    policy: ModelPolicy


@cache
def profile(name: str) -> Profile:
    """Give a profile; ValueError, with what may have been meant, when there is none."""
    document = _document(name)
    tree = document.tree
    if isinstance(tree, dict):
        tree = {**tree, "policy": merged(_defaults(), tree.get("policy", {}))}
    found, faults = attempt(tree, Profile, document)
    if found is None or document.faults:
        raise FaultsError([*document.faults, *faults.values()])
    return found


def policy_tree(name: str) -> dict[str, Tree]:
    """Give a profile's whole policy as a tree, to be written over."""
    tree = adapter(ModelPolicy).dump_python(profile(name).policy, mode="json")
    return {str(key): value for key, value in tree.items()}


def merge(base: ModelPolicy, written: Mapping[str, Any]) -> ModelPolicy:
    """Write fields over a policy: `{"scaling": {"min": 2}}` changes `min` and nothing else."""
    tree = merged(adapter(ModelPolicy).dump_python(base, mode="json"), dict(written))
    policy, faults = attempt(tree, ModelPolicy, Document("policy"))
    if policy is None:
        raise FaultsError(faults.values())
    return policy


def merged(base: Tree, over: Tree) -> Tree:
    """Lay one tree over another: mappings field by field, anything else as a whole."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return deepcopy(over)
    both = deepcopy(base)
    for key, value in over.items():
        both[key] = merged(base.get(key), value)
    return both


def differences(policy: ModelPolicy, other: ModelPolicy) -> list[tuple[str, str]]:
    """Name the fields in which a policy differs from another, each with its value."""
    dump = adapter(ModelPolicy).dump_python
    return list(_differing(dump(policy, mode="json"), dump(other, mode="json"), ""))


def _differing(tree: Tree, other: Tree, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(tree, dict) and isinstance(other, dict) and tree.keys() >= other.keys():
        for name, value in tree.items():
            yield from _differing(value, other.get(name), f"{path}.{name}" if path else name)
    elif tree != other:
        yield path, msgspec.json.encode(tree).decode()


def unknown_profile(name: str) -> str:
    """Word the fault of a profile that does not exist."""
    close = get_close_matches(name, NAMES, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(NAMES)}"
    return f"is no profile; {hint}"


def _document(name: str) -> Document:
    if name not in NAMES:
        raise ValueError(f"profile: {name}: {unknown_profile(name)}")
    source = f"{name}.yaml"
    return parse(files(__name__).joinpath(source).read_text("utf-8"), source)


def _defaults() -> Tree:
    tree: Tree = adapter(ModelPolicy).dump_python(ModelPolicy(), mode="json")
    return tree
