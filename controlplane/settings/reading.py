"""Text -> a frozen value of the domain, or every fault of the text at once.

The dataclass is the schema: its `annotated-types` bounds are checked here and nowhere else. The
tree is handed over as JSON in strict mode, because that is the mode which takes a word for an enum
and a list for a tuple, yet never "3" for 3 or `true` for 1.
"""

import re
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from pydantic import TypeAdapter, ValidationError

from controlplane.domain.faults import Fault, FaultsError
from controlplane.settings.document import Document, Path, Tree, dotted, parse
from controlplane.settings.rules import rule_of, unknown
from controlplane.settings.shape import resolve

T = TypeVar("T")
_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}
_ENCODER = msgspec.json.Encoder(decimal_format="number")
_UNKNOWN = frozenset({"unexpected_keyword_argument", "extra_forbidden"})
_WRONG_ARM = frozenset({"literal_error", "enum"})


def adapter(type_: Any) -> TypeAdapter[Any]:
    """Give the validator of a type; built once, for that takes milliseconds."""
    if type_ not in _ADAPTERS:
        _ADAPTERS[type_] = TypeAdapter(type_)
    return _ADAPTERS[type_]


def read(text: str, source: str, type_: type[T]) -> T:
    """Read a YAML text as a `type_`; raise `FaultsError` with one line per fault."""
    document = parse(text, source)
    value, found = attempt(document.tree, type_, document)
    if value is None or found or document.faults:
        raise FaultsError([*document.faults, *found.values()])
    return value


def attempt(tree: Tree, type_: type[T], document: Document) -> tuple[T | None, dict[Path, Fault]]:
    """Validate a tree whose places the document knows; give the value, or a fault a place."""
    try:
        value: T = adapter(type_).validate_json(_ENCODER.encode(tree), strict=True)
    except ValidationError as error:
        return None, _worded(error.errors(include_url=False), type_, document)
    return value, {}


def _worded(errors: Iterable[Any], type_: Any, document: Document) -> dict[Path, Fault]:
    located = [(error, *resolve(type_, error["loc"])) for error in errors]
    beside = _arms_not_meant([(by, error["type"]) for error, _, _, by in located])
    doubted = {fault.field for fault in document.faults}
    faults: dict[Path, Fault] = {}  # one a place: what is no number needs no bound as well
    for error, path, _, went_by in located:
        if went_by in beside or path in faults or dotted(path) in doubted:
            continue
        if error["type"] == "value_error":
            faults[path] = _own_rule(str(error["ctx"]["error"]), path, document)
            continue
        shown = _shown(error, path, document)
        if error["type"] in _UNKNOWN:
            around = resolve(type_, error["loc"][:-1])[1]
            rule = unknown(str(path[-1]), around, type_)
        else:
            rule = rule_of(error, shown)
        faults[path] = document.fault(path, rule, shown)
    return faults


def _own_rule(text: str, path: Path, document: Document) -> Fault:
    """Place a rule the dataclass checks itself: its sentence may begin with the field at fault."""
    begins = re.match(r"[\w.\[\]-]+", text)
    steps = re.findall(r"[^.\[\]]+", begins[0]) if begins else []
    below = (*path, *(int(step) if step.isdecimal() else step for step in steps))
    return document.fault(below if steps and below in document.lines else path, text)


def _shown(error: Any, path: Path, document: Document) -> str:
    """Give the value as it was written; of mappings and lists only that they are one."""
    given = error["input"]
    if error["loc"] and error["loc"][-1] == "[key]":
        return str(path[-1])
    if error["type"] == "missing" or given is None:
        return ""
    if isinstance(given, dict | list):
        return "{…}" if isinstance(given, dict) else "[…]"
    return document.written.get(path, str(given)) or '""'


def _arms_not_meant(seen: list[tuple[tuple[str, ...], str]]) -> frozenset[tuple[str, ...]]:
    """Name the arms of unions whose errors say nothing: their `kind` is not the one written.

    Where no arm's kind matches, one of them stays, to say which kinds there are.
    """
    by_union: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    wrong = {by for by, kind in seen if by and kind in _WRONG_ARM}
    for by, _ in seen:
        if by and by not in by_union.setdefault(by[:-1], []):
            by_union[by[:-1]].append(by)
    dropped: set[tuple[str, ...]] = set()
    for of_union in by_union.values():
        meant = [by for by in of_union if by not in wrong]
        dropped.update(by for by in of_union if by in wrong and by != of_union[0])
        if meant:
            dropped.update(by for by in of_union if by in wrong)
    return frozenset(dropped)
