"""Cuts what is faulty out of a tree, so that the rest can still be checked as a whole.

Without it a single typing error would hide every rule between fields until the next try.
"""

from collections.abc import Iterable
from copy import deepcopy
from typing import TypeVar

from controlplane.settings.document import Document, Path, Tree
from controlplane.settings.reading import attempt

T = TypeVar("T")
_TRIES = 8  # a cut may leave something incomplete, which is cut next


def heal(tree: Tree, faulty: Iterable[Path], type_: type[T]) -> tuple[T | None, frozenset[Path]]:
    """Cut faulty places until the tree is a `type_`; give it (None: nothing left) and the cuts."""
    sound, cut = deepcopy(tree), set[Path]()
    for _ in range(_TRIES):
        places = {_standing(sound, path) for path in faulty}
        if () in places:
            break
        for path in sorted(places, key=len, reverse=True):
            _remove(sound, path)
        cut |= places
        value, faulty = attempt(sound, type_, Document(""))
        if value is not None:
            return value, frozenset(cut)
    return None, frozenset(cut)


def _standing(tree: Tree, path: Path) -> Path:
    """Give the place itself where it exists, else what lacks it; () is the whole tree."""
    for length, step in enumerate(path):
        if isinstance(tree, dict) and step in tree:
            tree = tree[str(step)]
        elif isinstance(tree, list) and isinstance(step, int) and step < len(tree):
            tree = tree[step]
        else:
            return path[:length]
    return path


def _remove(tree: Tree, path: Path) -> None:
    """Remove a place. A list is cut to its end: what stands before keeps its number."""
    for step in path[:-1]:
        if isinstance(tree, list) and isinstance(step, int):
            tree = tree[step] if step < len(tree) else None
        elif isinstance(tree, dict):
            tree = tree.get(str(step))
    if isinstance(tree, list) and isinstance(path[-1], int):
        del tree[path[-1] :]
    elif isinstance(tree, dict):
        tree.pop(str(path[-1]), None)
