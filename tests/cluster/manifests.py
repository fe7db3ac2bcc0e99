"""Manifests from elsewhere: definitions of other kinds, and what we ship to be deployed."""

import asyncio
from pathlib import Path

from ruamel.yaml import YAML

from tests.cluster import modules
from tests.cluster.api import Api, Manifest
from tests.cluster.handed import Cluster
from tests.cluster.nodes import is_true


def read(text: str) -> list[Manifest]:
    """Read a file of several documents."""
    return [found for found in YAML(typ="safe").load_all(text) if found]


async def define(api: Api, module: str) -> list[str]:
    """Make the API server know the kinds of a module, see `modules.MODULES`; gives their names."""
    texts = [path.read_text("utf-8") for path in modules.manifests(module)]
    kinds = [one for text in texts for one in await asyncio.to_thread(read, text)]
    names = [one["metadata"]["name"] for one in kinds]
    for one in kinds:
        await api.apply(one)
    for name in names:
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
        await api.until(path, lambda one: is_true("Established", one))
    return names


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
