"""The API described as OpenAPI 3.1, from the very table its handlers are made of."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from controlplane import __version__
from controlplane.domain.faults import Fault
from controlplane.http.api.csv import CSV
from controlplane.http.api.route import Route
from controlplane.http.problems import PROBLEM_JSON

REF = "#/components/schemas/{name}"
PATH_PART = re.compile(r"\{(\w+)\}")
JSON = "application/json"
FORMAT = {
    "name": "format",
    "in": "query",
    "description": "json or csv; the same as the address with .csv behind it.",
    "schema": {"enum": ["json", "csv"], "default": "json"},
}


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request was not answered as asked (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: tuple[Fault, ...] = ()
    lines: tuple[str, ...] = ()


def document(routes: Sequence[Route]) -> bytes:
    """Give the whole document."""
    schemas, components = _schemas(routes)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.address, {})[route.method.lower()] = _operation(route, schemas)
        if route.table is not None:
            paths.setdefault(route.csv_address, {})["get"] = _csv_operation(route, schemas)
    return msgspec.json.format(
        msgspec.json.encode(
            {
                "openapi": "3.1.0",
                "info": {
                    "title": "controlplane",
                    "version": __version__,
                    "description": "Times are the world's seconds since 1970, money is whole "
                    "millionths of the catalogue's currency, null is not known.",
                    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
                },
                "servers": [{"url": "/"}],
                "security": [{"bearer": []}, {"cookie": []}, {}],
                "tags": [{"name": tag} for tag in dict.fromkeys(route.tag for route in routes)],
                "paths": paths,
                "components": {
                    "schemas": components,
                    "responses": {"Problem": _problem()},
                    "securitySchemes": {
                        "bearer": {"type": "http", "scheme": "bearer"},
                        "cookie": {
                            "type": "apiKey",
                            "in": "cookie",
                            "name": "controlplane_token",
                        },
                    },
                },
            }
        )
    )


def _schemas(routes: Iterable[Route]) -> tuple[Mapping[Any, Any], dict[str, Any]]:
    """Give the schema of every type in the table, and the named ones they refer to."""
    types: list[Any] = [Problem]
    for route in routes:
        types += [kind for kind in (route.answer, route.body) if kind is not None]
        types += [field.type for field in msgspec.structs.fields(route.params)]
    unique = list(dict.fromkeys(types))
    made, components = msgspec.json.schema_components(unique, ref_template=REF)
    # Faults are written by name in problems, though in the code they are tuples.
    components["Problem"]["properties"]["errors"] = {"type": "array", "items": _fault()}
    return dict(zip(unique, made, strict=True)), components


def _fault() -> dict[str, Any]:
    text = {"type": "string"}
    return {
        "type": "object",
        "properties": {
            "source": text,
            "line": {"type": ["integer", "null"]},
            "field": text,
            "value": text,
            "rule": text,
        },
        "required": list(Fault._fields),
    }


def _operation(route: Route, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    content = {route.produces: _media(route, schemas)}
    if route.table is not None:
        content[CSV] = {"schema": {"type": "string"}}
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "description": f"Needs the role {route.role}.",
        "tags": [route.tag],
        "parameters": [*_parameters(route, schemas), *([FORMAT] if route.table else [])],
        "responses": _responses(route, content),
    }
    if route.body is not None:
        body = {"schema": schemas[route.body]}
        operation["requestBody"] = {
            "required": True,
            "content": {JSON: body, "application/x-www-form-urlencoded": body},
        }
    return operation


def _csv_operation(route: Route, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        "operationId": f"{route.name}_csv",
        "summary": route.summary + " As CSV.",
        "tags": [route.tag],
        "parameters": _parameters(route, schemas),
        "responses": _responses(route, {CSV: {"schema": {"type": "string"}}}),
    }


def _media(route: Route, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    if route.answer is None:
        return {"schema": {"type": "string"}}
    return {"schema": schemas[route.answer]}


def _responses(route: Route, content: Mapping[str, Any]) -> dict[str, Any]:
    problem = {"$ref": "#/components/responses/Problem"}
    statuses = {400, 401, 403, *route.faults, *({404} if "{" in route.path else ())}
    return {
        str(route.status): {"description": route.summary, "content": content},
        **{str(status): problem for status in sorted(statuses)},
        "default": problem,
    }


def _problem() -> dict[str, Any]:
    return {
        "description": "Why it was not answered as asked.",
        "content": {PROBLEM_JSON: {"schema": {"$ref": REF.format(name="Problem")}}},
    }


def _parameters(route: Route, schemas: Mapping[Any, Any]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in PATH_PART.findall(route.path)
    ]
    for field in msgspec.structs.fields(route.params):
        schema = dict(schemas[field.type])
        parameter = {"name": field.encode_name, "in": "query", "required": field.required}
        if "description" in schema:
            parameter["description"] = schema.pop("description")
        if not field.required and field.default is not None:
            schema["default"] = msgspec.to_builtins(field.default)
        parts.append({**parameter, "schema": schema})
    return parts
