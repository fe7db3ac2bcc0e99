"""JSON Schema of the files people write, for editors that complete and check while one types."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields
from typing import Any

from pydantic import TypeAdapter

from controlplane.domain.policies import STRICT
from controlplane.settings.profiles import NAMES
from controlplane.settings.reading import adapter
from controlplane.settings.shape import dataclasses_below

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(type_: Any, title: str) -> dict[str, Any]:
    """Give the JSON Schema of a type, with the description of every field."""
    with _docstrings_read():
        schema = TypeAdapter(type_).json_schema()
    described = {type_.__name__: schema, **schema.get("$defs", {})}
    for dataclass in dataclasses_below(type_):
        properties = described[dataclass.__name__]["properties"]
        for field in fields(dataclass):
            _tidy(field, properties[field.name])
    return {"$schema": DIALECT, **schema, "title": title}


@contextmanager
def _docstrings_read() -> Iterator[None]:
    """Let pydantic read the fields' docstrings: slow, for it parses the source, so only here."""
    STRICT["use_attribute_docstrings"] = True
    try:
        yield
    finally:
        del STRICT["use_attribute_docstrings"]


def _tidy(field: Field[Any], shown: dict[str, Any]) -> None:
    """Join wrapped descriptions, drop titles that repeat the name, say what is left unsaid."""
    shown.pop("title", None)
    if "description" in shown:
        shown["description"] = " ".join(shown["description"].split())
    if field.name == "profile":
        shown["anyOf"] = [{"enum": list(NAMES)}, {"type": "null"}]
    if field.default_factory is not MISSING:  # pydantic does not call it
        default = field.default_factory()
        shown["default"] = adapter(type(default)).dump_python(default, mode="json")
