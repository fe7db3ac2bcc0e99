"""A kubeconfig: read, and what is wrong with one said in a sentence that names the file.

The library reads it and makes use of it. What its exceptions say is about Python, or quotes a user
whole, token and all; so the names in the file are looked at here before it gets to use them.
"""

import asyncio
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kubernetes_asyncio.client import Configuration
from kubernetes_asyncio.config import ConfigException
from kubernetes_asyncio.config.kube_config import KubeConfigLoader, KubeConfigMerger

from controlplane.ports import UnavailableError

EXEC_S = 30.0  # a program that gives credentials may ask a server for them
_LIBRARYS = "Invalid kube-config file. "  # a sentence of its own, before the one that says why


class AddressError(Exception):
    """The API server cannot be found by what was given; one sentence for people."""


async def opened(path: Path, configuration: Configuration) -> KubeConfigLoader:
    """Read a kubeconfig into the configuration; give what renews its token."""
    path = _file(path)
    shown = f"kubectl config view --kubeconfig {path} shows what it says"
    merged = _read(path, shown)
    fault = _fault(merged.config.value if merged.config else {})
    if fault:
        raise AddressError(f"kubeconfig: {path} {fault}; {shown}")
    program = ""
    try:
        loader = KubeConfigLoader(merged.config, config_base_path=None)
        program = program_of(loader)
        async with asyncio.timeout(EXEC_S):
            await loader.load_and_set(configuration)
    except Exception as cause:  # whatever else a file makes of the library
        if program:
            raise AddressError(f"kubeconfig: {path}: {_failed(program, cause)}") from cause
        raise AddressError(
            f"kubeconfig: {path} cannot be used: {_words(cause)}; {shown}"
        ) from cause
    host = str(configuration.host)
    if not host.startswith(("https://", "http://")):
        raise AddressError(f"kubeconfig: {path}: server {host!r} is no https:// address; {shown}")
    return loader


def program_of(loader: KubeConfigLoader) -> str:
    """Name the program that gives the credentials; nothing, where the file has them."""
    user = getattr(loader, "_user", None)
    return str(user["exec"].safe_get("command")) if user and "exec" in user else ""


async def renewed(loader: KubeConfigLoader) -> None:
    """Run the credentials program again, if there is one and what it gave has run out."""
    program = program_of(loader)
    if not program:
        return
    try:
        async with asyncio.timeout(EXEC_S):
            await loader.load_from_exec_plugin()
    except (ConfigException, OSError, TimeoutError) as cause:
        raise UnavailableError(f"kubeconfig: {_failed(program, cause)}") from cause


def _failed(program: str, cause: BaseException) -> str:
    """Say how a credentials program failed, and how to see it."""
    whose = f"its credentials program {program}"
    if isinstance(cause, FileNotFoundError):
        return f"{whose} is not there; command -v {program} shows whether it is installed"
    if isinstance(cause, TimeoutError):
        return f"{whose} gave no answer within {EXEC_S:g} s; does it ask for a password?"
    return f"{whose} failed: {_words(cause)}; kubectl auth whoami runs it as well"


def _file(path: Path) -> Path:
    path = path.expanduser()
    if path.is_dir():
        raise AddressError(f"kubeconfig: {path} is a folder; give the file in it")
    if not path.is_file():
        raise AddressError(f"kubeconfig: there is no file {path}")
    if not os.access(path, os.R_OK):
        raise AddressError(f"kubeconfig: {path} may not be read; ls -l {path} shows its owner")
    return path


def _read(path: Path, shown: str) -> KubeConfigMerger:
    # The library logs what it then raises, and we say it: one sentence is enough.
    logging.getLogger(KubeConfigMerger.__module__).setLevel(logging.CRITICAL)
    try:
        return KubeConfigMerger(str(path))
    except (TypeError, AttributeError, KeyError) as cause:
        wanted = "it must say current-context, contexts, clusters and users"
        raise AddressError(f"kubeconfig: {path} is no kubeconfig: {wanted}; {shown}") from cause
    except UnicodeDecodeError as cause:
        raise AddressError(f"kubeconfig: {path} is no kubeconfig: it is no text") from cause
    except Exception as cause:  # the library does not say which: YAML has many ways to be wrong
        said = " ".join(str(cause).split())[:200] or type(cause).__name__
        raise AddressError(f"kubeconfig: {path} is no kubeconfig ({said}); {shown}") from cause


def _fault(said: Mapping[str, Any]) -> str:
    """Follow the names from the context to its server and its user; say the first that is lost."""
    chosen, contexts = said.get("current-context"), _named(said, "contexts")
    if not chosen:
        return "names no current-context"
    context = contexts.get(str(chosen), {}).get("context")
    if not isinstance(context, Mapping):
        return _lost("context", chosen, contexts)
    return _of_server(said, chosen, context.get("cluster")) or _of_user(
        said, chosen, context.get("user")
    )


def _of_server(said: Mapping[str, Any], chosen: str, cluster: str | None) -> str:
    clusters = _named(said, "clusters")
    if not cluster:
        return f"has a context {chosen} that names no cluster"
    found = clusters.get(str(cluster), {}).get("cluster")
    if not isinstance(found, Mapping):
        return _lost("cluster", cluster, clusters, chosen)
    server = found.get("server")
    if not server:
        return f"names no server; it is clusters[].cluster.server of {cluster}"
    return "" if isinstance(server, str) else f"names the server {server!r}, no https:// address"


def _of_user(said: Mapping[str, Any], chosen: str, user: str | None) -> str:
    users = _named(said, "users")
    if user is None or isinstance(users.get(str(user), {}).get("user"), Mapping):
        return ""
    return _lost("user", user, users, chosen)


def _named(said: Mapping[str, Any], kind: str) -> dict[str, Mapping[str, Any]]:
    """Give a list of the file by name; what stands in it is never quoted, for it has secrets."""
    values = [getattr(node, "value", node) for node in said.get(kind) or ()]
    return {str(v.get("name")): v for v in values if isinstance(v, Mapping)}


def _lost(key: str, name: object, there: Mapping[str, Mapping[str, Any]], of: object = None) -> str:
    whose = f"the {key} of context {of}" if of is not None else f"its current-{key}"
    if str(name) in there:
        return f"has no `{key}:` under {name}, which is {whose}"
    return f"has no {name}, which is {whose}; it has {', '.join(there) or 'none'}"


def _words(cause: BaseException) -> str:
    said = " ".join(str(cause).split()).removeprefix(_LIBRARYS).rstrip(". ")
    return said or type(cause).__name__
