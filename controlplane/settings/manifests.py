"""Kubernetes manifests as YAML text: written so that kubectl reads what was meant, and read back.

Text that looks like a number or a switch is written in quotes, which is how the API server wants
the values of labels, annotations and trigger metadata.
"""

from collections.abc import Iterable
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from controlplane.domain.faults import Fault, FaultsError


def manifests_text(manifests: Iterable[dict[str, Any]]) -> str:
    """Write manifests as YAML documents."""
    yaml = YAML(typ="safe", pure=True)
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]  # typed as None
    yaml.default_flow_style = False
    yaml.representer.ignore_aliases = lambda _: True  # what stands twice is written twice
    yaml.width = 10_000  # queries stay on one line
    out = StringIO()
    for number, manifest in enumerate(manifests):
        if number:
            out.write("---\n")
        yaml.dump(manifest, out)
    return out.getvalue()


def read_manifests(text: str, source: str) -> list[dict[str, Any]]:
    """Read YAML (or JSON) documents, those of a List one by one; FaultsError where it is none."""
    try:
        documents = list(YAML(typ="safe", pure=True).load_all(text))
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise FaultsError([Fault(source, line, "", "", f"is no YAML: {error.problem}")]) from error
    except YAMLError as error:
        raise FaultsError([Fault(source, None, "", "", f"is no YAML: {error}")]) from error
    found: list[dict[str, Any]] = []
    for document in documents:
        if document is None:
            continue
        if not isinstance(document, dict):
            rule = "is no manifest: a mapping with apiVersion and kind is wanted"
            raise FaultsError([Fault(source, None, "", str(document), rule)])
        found += _items(document, source) if document.get("kind") == "List" else [document]
    return found


def _items(document: dict[str, Any], source: str) -> list[dict[str, Any]]:
    items = document.get("items")
    if not isinstance(items, list):
        raise FaultsError([Fault(source, None, "items", str(items), "must be a list of manifests")])
    return items
