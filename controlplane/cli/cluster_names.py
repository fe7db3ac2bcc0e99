"""Options and arguments that name a namespace or an object in one, as Kubernetes allows them."""

import re
from typing import Any

import click

_LABEL = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_NAMESPACE = re.compile(_LABEL)
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")


class Namespace(click.ParamType[str]):
    """A namespace."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Give it as it was written."""
        if not _NAMESPACE.fullmatch(str(value)):
            rule = "a namespace has small letters, digits and dashes, at most 63, e.g. models."
            self.fail(f"{value!r} is none: {rule}", param, ctx)
        return str(value)


class Namespaced(click.ParamType[tuple[str, str]]):
    """An object as NAMESPACE/NAME."""

    name = "namespace/name"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Give namespace and name."""
        namespace, _, name = str(value).partition("/")
        if not (_NAMESPACE.fullmatch(namespace) and _NAME.fullmatch(name)):
            self.fail(f"{value!r} is not NAMESPACE/NAME, e.g. models/chat.", param, ctx)
        return namespace, name
