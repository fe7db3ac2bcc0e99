"""The settings reference: every field people may write, in tables, made from the types.

docs/settings.md is this text; a test fails when it is out of date.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from controlplane.domain.catalogue import Catalogue
from controlplane.domain.policies import ModelPolicy
from controlplane.settings.options import PREFIX, ServeOptions
from controlplane.settings.profiles import DEFAULT, NAMES, differences, profile
from controlplane.settings.schema import json_schema

_HEAD = """# Settings

Written by `controlplane schema --markdown`. Change the types in `controlplane/domain`, not this.

A fleet file is YAML. `controlplane check FILE` names every fault with file, line, field, value and
rule; `controlplane schema` prints the JSON Schema that editors use to complete and check.
`null` turns a rule off. Times end in `_s` (seconds), memory in `_gib` (2**30 bytes).
"""
_PROFILES = """## Profiles

`profile: NAME` at the top of a fleet file, or in a model, names the policy to start from; what the
model's own `policy:` says goes over it, field by field. Below, what each one sets differently from
the defaults.
"""
_LIMITS = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
}
_PLAIN = {
    "null": "`null`",
    "string": "text",
    "integer": "whole number",
    "boolean": "`true`, `false`",
}


def settings_reference() -> str:
    """Give the whole reference as Markdown."""
    parts = [_HEAD, *_fleet_file(), _PROFILES, *map(_profile, NAMES), _options()]
    return "\n".join(part.strip() + "\n" for part in parts)


def _fleet_file() -> Iterator[str]:
    schema = json_schema(Catalogue, "Fleet file")
    definitions: Mapping[str, Any] = schema["$defs"]
    yield _section("The fleet file", schema, definitions)
    for name in _in_reading_order(schema, definitions):
        yield _section(name, definitions[name], definitions)


def _in_reading_order(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> list[str]:
    """Order the types as a reader meets them going through the file from the top."""
    found: list[str] = []
    for field in schema.get("properties", {}).values():
        for name in _mentions(field):
            if name not in found and "properties" in definitions[name]:
                below = _in_reading_order(definitions[name], definitions)
                found += [one for one in (name, *below) if one not in found]
    return found


def _mentions(field: Any) -> Iterator[str]:
    if isinstance(field, dict):
        if "$ref" in field:
            yield field["$ref"].rpartition("/")[2]
        for inner in field.values():
            yield from _mentions(inner)
    elif isinstance(field, list):
        for inner in field:
            yield from _mentions(inner)


def _section(title: str, described: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    about = " ".join(described.get("description", "").split())
    rows = [
        f"| `{name}` | {_kind(field, definitions)} | {_default(name, field, described)} "
        f"| {_cell(field.get('description', ''))} |"
        for name, field in described["properties"].items()
    ]
    head = ["| field | value | default | meaning |", "|---|---|---|---|"]
    return "\n".join([f"## {title}", "", about, "", *head, *rows])


def _kind(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Say in few words what may be written."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        enum = definitions[name].get("enum")
        return _words(enum) if enum else f"[{name}](#{name.lower()})"
    if "anyOf" in field:
        kinds = [_kind(arm, definitions) for arm in field["anyOf"]]
        if "number" in kinds[0] and "text" in kinds:  # money may be quoted
            kinds.remove("text")
        return " or ".join(kinds)
    return _words(field["enum"]) if "enum" in field else _plain_kind(field, definitions)


def _plain_kind(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    kind = str(field.get("type", "anything"))
    if kind == "array":
        return f"list of {_kind(field['items'], definitions)}"
    if kind == "object":
        return f"mapping to {_kind(field.get('additionalProperties', {}), definitions)}"
    kind = _PLAIN.get(kind, kind)
    bounds = [form.format(f"{field[name]:g}") for name, form in _LIMITS.items() if name in field]
    return " ".join([kind, *bounds])


def _default(name: str, field: Mapping[str, Any], described: Mapping[str, Any]) -> str:
    if name in described.get("required", ()):
        return "required"
    if "$ref" in field and isinstance(field.get("default", {}), dict):
        return "see there"
    return f"`{msgspec.json.encode(field['default']).decode()}`"


def _words(words: list[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _profile(name: str) -> str:
    found = profile(name)
    lines = [f"### {name}", "", found.summary, ""]
    lines += [f"- `{path}: {value}`" for path, value in differences(found.policy, ModelPolicy())]
    if found.notes:
        lines += ["", *(f"- Note: {note}." for note in found.notes)]
    return "\n".join(lines) if name != DEFAULT else "\n".join(lines[:3])


def _options() -> str:
    schema = json_schema(ServeOptions, "Options")
    rows = [
        f"| `--{name}` | `{PREFIX}{name.upper()}` | {_cell(field.get('description', ''))} |"
        for name, field in schema["properties"].items()
    ]
    head = ["| option | variable | meaning |", "|---|---|---|"]
    return "\n".join(["## Options of `controlplane serve`", "", *head, *rows])
