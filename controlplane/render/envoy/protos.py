"""Pieces of Envoy's data model that come up everywhere."""

from typing import Any, TypeAlias

Plain: TypeAlias = dict[str, Any]

_API = "type.googleapis.com/envoy"


def typed(kind: str, **fields: Any) -> Plain:
    """Give a message that names its own type."""
    return {"@type": f"{_API}.{kind}", **fields}


def seconds(of: float) -> str:
    """Write a duration; Envoy takes at most nine decimals."""
    return f"{of:.3f}s"


def file_source(path: str) -> Plain:
    """Say that a resource lies in a file, which is replaced whole by a rename."""
    return {"path_config_source": {"path": path}, "resource_api_version": "V3"}


def address(host: str, port: int) -> Plain:
    """Give a socket's address; a path or `@name` is a Unix socket."""
    if host.startswith(("/", "@")):
        return {"pipe": {"path": host}}
    return {"socket_address": {"address": host, "port_value": port}}


def headers(**values: str) -> list[Plain]:
    """Give headers to set on a response."""
    return [
        {
            "header": {"key": name.replace("_", "-"), "value": value},
            "append_action": "OVERWRITE_IF_EXISTS_OR_ADD",
        }
        for name, value in values.items()
    ]
