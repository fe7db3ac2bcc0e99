"""The shape of the settings: which fields a type has, and what type stands at a path.

Needed to say *did you mean*, to find the place an unknown field belongs to, and to write the
reference. Everything is read off the frozen dataclasses of the domain.
"""

import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, NewType, Union, get_args, get_origin, get_type_hints

from controlplane.settings.document import Path


def bare(type_: Any) -> Any:
    """Take `Annotated` and `NewType` off a type."""
    while True:
        if get_origin(type_) is Annotated:
            type_ = get_args(type_)[0]
        elif isinstance(type_, NewType):
            type_ = type_.__supertype__
        else:
            return type_


def arms(type_: Any) -> tuple[Any, ...]:
    """Give what a type may be, None left out; one entry unless it is a union."""
    type_ = bare(type_)
    if get_origin(type_) in (Union, types.UnionType):
        return tuple(
            inner for arm in get_args(type_) if arm is not types.NoneType for inner in arms(arm)
        )
    return (type_,)


@cache
def fields_of(dataclass: type) -> Mapping[str, Any]:
    """Give the fields of a dataclass and their types, bounds included."""
    hints = get_type_hints(dataclass, include_extras=True)
    return {field.name: hints[field.name] for field in fields(dataclass)}


def known_fields(type_: Any) -> tuple[str, ...]:
    """Name the fields that may stand in a mapping of this type."""
    names = (name for arm in arms(type_) if is_dataclass(arm) for name in fields_of(_class(arm)))
    return tuple(dict.fromkeys(names))


def inner(type_: Any, step: str | int) -> Any:
    """Give the type one step further down; `Any` where the type does not say."""
    for arm in arms(type_):
        if is_dataclass(arm):
            found = fields_of(_class(arm)).get(str(step))
            if found is not None:
                return found
        elif get_origin(arm) is not None and get_args(arm):
            return get_args(arm)[-2 if get_args(arm)[-1] is Ellipsis else -1]
    return Any


def resolve(type_: Any, location: tuple[str | int, ...]) -> tuple[Path, Any, tuple[str, ...]]:
    """Turn pydantic's location into a path of the file, the type there and the arms it went by.

    Where a union has several arms, pydantic adds the arm's name, which stands in no file.
    """
    path: list[str | int] = []
    went_by: list[str] = []
    union_open = True
    for step in location:
        if step == "[key]":
            continue
        if union_open and len(arms(type_)) > 1:
            label = str(step)
            went_by.append(label)
            type_ = next((arm for arm in arms(type_) if _label(arm) == label), type_)
            union_open = False
            continue
        path.append(step)
        type_, union_open = inner(type_, step), True
    return tuple(path), type_, tuple(went_by)


def places_of(name: str, type_: Any, path: Path = ()) -> Iterator[str]:
    """Find where a field of this name stands, anywhere below a type; `*` is any name."""
    if len(path) > 8:
        return
    for arm in arms(type_):
        if is_dataclass(arm):
            for field, field_type in fields_of(_class(arm)).items():
                if field == name:
                    yield ".".join(map(str, (*path, field)))
                yield from places_of(name, field_type, (*path, field))
        elif get_origin(arm) is not None:
            yield from places_of(name, inner(arm, 0), (*path, "*"))


def dataclasses_below(type_: Any) -> Iterator[type]:
    """Find every dataclass a type is made of, each once, the outer ones first."""
    seen: dict[type, None] = {}
    waiting = [type_]
    while waiting:
        for arm in arms(waiting.pop(0)):
            if is_dataclass(arm) and arm not in seen:
                seen[_class(arm)] = None
                waiting += fields_of(_class(arm)).values()
            elif get_origin(arm) is not None:
                waiting += get_args(arm)
    return iter(seen)


def _class(arm: Any) -> type:
    found: type = arm
    return found


def _label(arm: Any) -> str:
    return getattr(arm, "__name__", str(arm))
