"""What a validation error means, in one plain clause: the rule that was broken.

The words of the library are for programmers; these are for the person who wrote the file.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from controlplane.settings.shape import known_fields, places_of

_PREDICATES = {
    "is_version": "is no version such as 12.8, 8.5.0 or 8.3.RC2",
    "is_pattern": "is no regular expression",
    "is_name": "is no name: letters, digits and - _ . inside, at most 63",
    "is_object": "is no name in a cluster: small letters, digits and - . inside, at most 253",
    "is_address": "is no address such as http://prometheus.monitoring:9090",
    "is_label": "is no Prometheus label: letters, digits and _, a letter first",
    "is_host_port": "is no HOST:PORT such as controlplane-scaler.controlplane:50051",
}
_KINDS = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "decimal_type": "must be an amount of money, such as 2.50",
    "decimal_parsing": "must be an amount of money, such as 2.50",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "dict_type": "must be a mapping, one `name: value` a line",
    "dataclass_type": "must be a mapping, one `field: value` a line",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "finite_number": "is not a finite number",
    "missing": "is missing and has no default",
    "none_required": "must be left empty",
}
_NUMERIC = frozenset({"int_type", "float_type", "bool_type"})
_BOUNDS = {
    "greater_than": ("gt", "must be above {}"),
    "greater_than_equal": ("ge", "must be at least {}"),
    "less_than": ("lt", "must be below {}"),
    "less_than_equal": ("le", "must be at most {}"),
    "multiple_of": ("multiple_of", "must be a multiple of {}"),
    "too_short": ("min_length", "must have at least {} element{}"),
    "too_long": ("max_length", "must have at most {} element{}"),
    "string_too_short": ("min_length", "must have at least {} character{}"),
    "string_too_long": ("max_length", "must have at most {} character{}"),
}


def rule_of(error: Mapping[str, Any], written: str) -> str:
    """Word the rule an error broke."""
    kind, given = str(error["type"]), error["input"]
    plain = _KINDS.get(kind)
    if plain is None:
        return _bounded(error, written)
    if kind == "missing":
        return plain
    if given is None:
        return f"is empty; {plain}"
    if kind == "string_type" and not isinstance(given, dict | list):
        return f'{plain}: write "{written}" in quotes'
    return f"{plain}, not text" if isinstance(given, str) and kind in _NUMERIC else plain


def _bounded(error: Mapping[str, Any], written: str) -> str:
    """Word what is wrong with a value of the right kind."""
    kind, context = str(error["type"]), error.get("ctx", {})
    if kind in _BOUNDS:
        name, rule = _BOUNDS[kind]
        bound = context[name]
        number = f"{bound:.12g}" if isinstance(bound, float) else str(bound)
        return rule.format(number, "" if bound == 1 else "s")
    if kind in ("literal_error", "enum"):
        return _one_of(str(context["expected"]), written)
    text = str(error["msg"])
    return next((rule for name, rule in _PREDICATES.items() if f"'{name}'" in text), text)


def unknown(name: str, around: Any, root: Any) -> str:
    """Word the rule for a field that does not exist: what may have been meant instead."""
    here = known_fields(around)
    close = get_close_matches(name, here, n=1, cutoff=0.6)
    if close:
        return f"is not known; did you mean {close[0]}?"
    elsewhere = list(places_of(name, root))
    if elsewhere:
        return f"is not known here; it belongs to {' or '.join(elsewhere[:2])}"
    return f"is not known; known here: {', '.join(here)}"


def _one_of(expected: str, written: str) -> str:
    names = [name.strip().strip("'") for name in expected.replace(" or ", ", ").split(",")]
    close = get_close_matches(written, names, n=1, cutoff=0.6)
    meant = f"; did you mean {close[0]}?" if close else ""
    return f"must be {'one of ' if len(names) > 1 else ''}{', '.join(names)}{meant}"
