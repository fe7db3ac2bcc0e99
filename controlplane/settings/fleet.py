"""The fleet file: text -> catalogue, every fault at once, and the cautions of what is accepted."""

from pathlib import Path as FilePath
from typing import NamedTuple

from controlplane.domain.catalogue import Catalogue
from controlplane.domain.faults import Fault, FaultsError
from controlplane.settings.cautions import cautions
from controlplane.settings.coherence import Broken, incoherences
from controlplane.settings.document import Document, Path, Tree, dotted, parse
from controlplane.settings.healing import heal
from controlplane.settings.profiles import (
    DEFAULT,
    NAMES,
    merged,
    policy_tree,
    profile,
    unknown_profile,
)
from controlplane.settings.reading import attempt
from controlplane.settings.texts import written_text


class Checked(NamedTuple):
    """A fleet file that holds, and what about it deserves a second look."""

    catalogue: Catalogue
    warnings: tuple[Fault, ...]


def load_catalogue(path: FilePath) -> Catalogue:
    """Read a fleet file; raise `FaultsError` with one line per fault."""
    return parse_catalogue(written_text(path), str(path))


def parse_catalogue(text: str, source: str) -> Catalogue:
    """Read a fleet file's text; raise `FaultsError` with one line per fault."""
    return checked(text, source).catalogue


def checked(text: str, source: str) -> Checked:
    """Read a fleet file's text and look twice; raise `FaultsError` with one line per fault."""
    document = parse(text, source)
    faults = _profile_faults(document)
    tree = _with_profiles(document.tree)
    catalogue, found = attempt(tree, Catalogue, document)
    faults |= found
    sound, cut = (catalogue, frozenset[Path]()) if catalogue else heal(tree, found, Catalogue)
    if sound is not None:
        for broken in incoherences(sound):
            if not _due_to(cut, broken):
                faults.setdefault(broken.path, _fault(broken, document))
    if catalogue is None or faults or document.faults:
        raise FaultsError([*document.faults, *faults.values()])
    warnings = [_fault(caution, document) for caution in cautions(catalogue)]
    return Checked(catalogue, (*_profile_notes(document), *warnings))


def warnings(catalogue: Catalogue) -> tuple[str, ...]:
    """Say what about a catalogue in force deserves a second look, and what is not built yet."""
    named = [catalogue.profile, *(model.profile for model in catalogue.models.values())]
    notes = [
        Fault("profile", None, "", name, note)
        for name in dict.fromkeys(named)
        if name is not None
        for note in profile(name).notes
    ]
    found = [
        Fault(dotted(caution.path), None, "", caution.value or "", caution.rule)
        for caution in cautions(catalogue)
    ]
    return tuple(str(one) for one in (*notes, *found))


def _with_profiles(tree: Tree) -> Tree:
    """Put under each model's policy the profile it starts from."""
    models = tree.get("models") if isinstance(tree, dict) else None
    if not isinstance(tree, dict) or not isinstance(models, dict):
        return tree
    based: dict[str, Tree] = {
        name: {**model, "policy": _policy(tree, model)} if isinstance(model, dict) else model
        for name, model in models.items()
    }
    return {**tree, "models": based}


def _policy(fleet: dict[str, Tree], model: dict[str, Tree]) -> Tree:
    name = model.get("profile") or fleet.get("profile") or DEFAULT
    base = policy_tree(name if isinstance(name, str) and name in NAMES else DEFAULT)
    return merged(base, model.get("policy", {}))


def _profile_places(tree: Tree) -> list[tuple[Path, str]]:
    """Find where the file names a profile."""
    if not isinstance(tree, dict):
        return []
    places: list[tuple[Path, Tree]] = [(("profile",), tree.get("profile"))]
    models = tree.get("models")
    if isinstance(models, dict):
        places += [
            (("models", name, "profile"), model.get("profile"))
            for name, model in models.items()
            if isinstance(model, dict)
        ]
    return [(path, name) for path, name in places if isinstance(name, str)]


def _profile_faults(document: Document) -> dict[Path, Fault]:
    return {
        path: document.fault(path, unknown_profile(name))
        for path, name in _profile_places(document.tree)
        if name not in NAMES
    }


def _profile_notes(document: Document) -> list[Fault]:
    """Say what of a named profile is not built yet, where the file names it."""
    return [
        document.fault(path, note)
        for path, name in _profile_places(document.tree)
        for note in profile(name).notes
    ]


def _fault(broken: Broken, document: Document) -> Fault:
    return document.fault(broken.path, broken.rule, broken.value)


def _due_to(cut: frozenset[Path], broken: Broken) -> bool:
    """Say whether a rule is broken only because something faulty was cut away before."""
    path = broken.path
    return any(
        path[: len(gone)] == gone or gone[: len(path)] == path or broken.value == gone[-1]
        for gone in cut
    )
