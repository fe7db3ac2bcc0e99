"""Manifests from elsewhere: definitions of other kinds, and what we ship to be deployed."""

import asyncio
import re
from pathlib import Path

from ruamel.yaml import YAML

from tests.cluster import modules
from tests.cluster.api import Api, Manifest
from tests.cluster.handed import Cluster
from tests.cluster.nodes import is_true
from tests.cluster.stage import waiting

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_NAME = re.compile(r"^metadata:\n(?:  .*\n)*?  name: (\S+)$", re.MULTILINE)


def read(text: str) -> list[Manifest]:
    """Read a file of several documents."""
    return [found for found in YAML(typ="safe").load_all(text) if found]


async def define(api: Api, module: str) -> list[str]:
    """Make the API server know the kinds of a module, see `modules.MODULES`; gives their names.

    Definitions are megabytes, and the API server reads YAML faster than anything in Python.
    """
    names = []
    known = {one["metadata"]["name"] for one in await api.items(_DEFINITIONS)}
    for path in modules.manifests(module):
        for text in re.split(r"^---.*$", path.read_text("utf-8"), flags=re.MULTILINE):
            found = _NAME.search(text)
            if found:
                names.append(found[1])
            if found and found[1] not in known:
                await api.apply_text(f"{_DEFINITIONS}/{found[1]}", text)
    for name in names:
        place = f"{_DEFINITIONS}/{name}"
        await _listed(api, await api.until(place, lambda one: is_true("Established", one)))
    return names


async def _listed(api: Api, definition: Manifest) -> None:
    """Await that discovery lists a kind: it does so a moment after the kind is established."""
    spec = definition["spec"]
    version = next(v["name"] for v in spec["versions"] if v["served"])
    root, plural = f"/apis/{spec['group']}/{version}", spec["names"]["plural"]

    async def listed() -> bool:
        return plural in await api.names(root)

    await waiting.until(listed, 45, lambda: f"{root} does not list {plural}")


async def shipped(cluster: Cluster, folder: Path) -> list[Manifest]:
    """Give what `kubectl apply -k FOLDER` would apply."""
    process = await asyncio.create_subprocess_exec(
        cluster.kubectl, "kustomize", folder,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, said = await process.communicate()
    if process.returncode:
        raise AssertionError(f"kubectl kustomize {folder}: {said.decode()}")
    return read(out.decode())
