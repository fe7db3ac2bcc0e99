"""What a container's process gets to see: its command, arguments and variables."""

import re
import sys
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cluster.api import Api, Manifest, RefusedError

# The tools of this checkout stand where an image would have them.
_PATH = (
    f"{Path(sys.executable).parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)
_ENTRYPOINTS = {"controlplane": ["controlplane"]}  # of the one image that this checkout is
_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")
_KEYED = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")


async def variables(
    api: Api, container: Manifest, pod: Manifest, addresses: Mapping[str, str]
) -> dict[str, str]:
    """Give the environment; config maps and secrets are asked from the API server."""
    given = {"PATH": _PATH, "HOME": "/tmp", "LANG": "C.UTF-8", "HOSTNAME": pod["metadata"]["name"]}
    if "serviceAccountName" in pod["spec"]:
        given |= {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "6443"}
    for source in container.get("envFrom", ()):
        kind = "configMapRef" if "configMapRef" in source else "secretRef"
        found = await held(api, pod, kind, source[kind])
        given |= {source.get("prefix", "") + key: value for key, value in found.items()}
    for entry in container.get("env", ()):
        if "valueFrom" not in entry:
            given[entry["name"]] = expanded(entry.get("value", ""), given)
            continue
        ((kind, reference),) = entry["valueFrom"].items()
        if kind == "fieldRef":
            given[entry["name"]] = field(reference["fieldPath"], pod, addresses)
        else:
            found = await held(api, pod, kind, reference)
            if reference["key"] in found:
                given[entry["name"]] = found[reference["key"]]
    return given


async def held(api: Api, pod: Manifest, kind: str, reference: Manifest) -> dict[str, str]:
    """Give what a config map or a secret holds; an optional one may be missing."""
    plural = "configmaps" if kind.startswith("configMap") else "secrets"
    namespace = pod["metadata"]["namespace"]
    try:
        found = await api.get(f"/api/v1/namespaces/{namespace}/{plural}/{reference['name']}")
    except RefusedError as error:
        if error.status == 404 and reference.get("optional"):
            return {}
        raise
    data: dict[str, str] = found.get("data", {})
    if plural == "configmaps":
        return data
    return {key: b64decode(value).decode() for key, value in data.items()}


def field(path: str, pod: Manifest, addresses: Mapping[str, str]) -> str:
    """Read a field that the downward API offers."""
    if path in addresses:
        return addresses[path]
    keyed = _KEYED.fullmatch(path)
    if keyed:
        return str(pod["metadata"].get(keyed[1], {}).get(keyed[2], ""))
    value: Any = pod
    for part in path.split("."):
        value = value.get(part, "") if isinstance(value, Mapping) else ""
    return str(value)


def expanded(text: str, environment: Mapping[str, str]) -> str:
    """Put in variables: $(NAME) where it is known, $$ for a dollar."""

    def value(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        return environment.get(found[1], found[0])

    return _REFERENCE.sub(value, text)


def command(container: Manifest, environment: Mapping[str, str]) -> list[str]:
    """Give what to run: the container's command, else its image's; nothing if that is not here."""
    image = container["image"].rsplit("/", 1)[-1].split(":")[0]
    words = container.get("command") or _ENTRYPOINTS.get(image, [])
    return [expanded(word, environment) for word in [*words, *container.get("args", ())] if words]
