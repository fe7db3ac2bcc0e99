"""A container's file system: this machine's, with its own writes on top and its volumes mounted.

A container without mounts runs on the machine as it is, which is quicker. One with mounts gets an
overlay in a mount namespace of its own, so that nothing it writes or mounts is seen elsewhere, and
the name of its pod as its host's.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cluster.api import Api, Manifest
from tests.cluster.kubelet.environment import field, held

_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


class Volumes:
    """The volumes of one pod, as folders or files of this machine."""

    def __init__(
        self, api: Api, pod: Manifest, folder: Path, ca: Path, addresses: Mapping[str, str]
    ) -> None:
        self._api = api
        self._pod = pod
        self._folder = folder
        self._ca = ca
        self._addresses = addresses
        self._places: dict[str, Path] = {}

    async def fill(self) -> None:
        """Make them all."""
        for volume in self._pod["spec"].get("volumes", ()):
            self._places[volume["name"]] = await self._made(volume)
        if self._has_account:
            place = self._own("serviceaccount")
            await self._fill_account(place, "")
            self._places[_ACCOUNT] = place

    @property
    def _has_account(self) -> bool:
        """A pod that names an account gets its token, as the admission plug-in would have it."""
        spec = self._pod["spec"]
        return "serviceAccountName" in spec and spec.get("automountServiceAccountToken", True)

    async def _made(self, volume: Manifest) -> Path:
        if "hostPath" in volume:
            made = volume["hostPath"].get("type") == "DirectoryOrCreate"
            return _of_this_machine(volume["hostPath"]["path"], made=made)
        if "persistentVolumeClaim" in volume:
            return await self._claimed(volume["persistentVolumeClaim"]["claimName"])
        place = self._own(volume["name"])
        sources = volume["projected"]["sources"] if "projected" in volume else [volume]
        for source in sources:
            await self._fill(place, source)
        return place

    def _own(self, name: str) -> Path:
        place = self._folder / name
        place.mkdir(parents=True, exist_ok=True)
        return place

    async def _claimed(self, claim: str) -> Path:
        namespace = self._pod["metadata"]["namespace"]
        path = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{claim}"
        bound = (await self._api.get(path))["spec"]["volumeName"]
        volume = await self._api.get(f"/api/v1/persistentvolumes/{bound}")
        return _of_this_machine(volume["spec"]["hostPath"]["path"], made=True)

    async def _fill(self, place: Path, source: Manifest) -> None:
        for kind, key in (("configMap", "name"), ("secret", "secretName")):
            if kind in source:
                named = {**source[kind], "name": source[kind].get(key) or source[kind].get("name")}
                for name, text in (await held(self._api, self._pod, kind, named)).items():
                    (place / name).write_text(text)
        if "serviceAccountToken" in source:
            await self._fill_account(place, source["serviceAccountToken"]["path"])
        for item in source.get("downwardAPI", {}).get("items", ()):
            text = field(item["fieldRef"]["fieldPath"], self._pod, self._addresses)
            (place / item["path"]).write_text(text)

    async def _fill_account(self, place: Path, token_as: str) -> None:
        meta, spec = self._pod["metadata"], self._pod["spec"]
        account = spec.get("serviceAccountName", "default")
        # Bound to the pod, as a kubelet's are: it ends with it, and the audit log names it.
        pod = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
        asked = await self._api.post(
            f"/api/v1/namespaces/{meta['namespace']}/serviceaccounts/{account}/token",
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"boundObjectRef": pod},
            },
        )
        (place / (token_as or "token")).write_text(asked["status"]["token"])
        if not token_as:
            (place / "ca.crt").write_bytes(self._ca.read_bytes())
            (place / "namespace").write_text(meta["namespace"])

    def mounts(self, container: Manifest) -> list[tuple[Path, str, bool]]:
        """Give what is mounted where, and whether only to be read."""
        found = [
            (
                self._places[mount["name"]] / mount.get("subPath", ""),
                mount["mountPath"],
                mount.get("readOnly", False),
            )
            for mount in container.get("volumeMounts", ())
        ]
        if _ACCOUNT in self._places:
            found.append((self._places[_ACCOUNT], _ACCOUNT, True))
        return found


def _of_this_machine(path: str, *, made: bool) -> Path:
    place = Path(path)
    if made:
        place.mkdir(parents=True, exist_ok=True)
    return place


def within(
    words: Sequence[str],
    container: Manifest,
    mounts: Sequence[tuple[Path, str, bool]],
    layer: Path,
    host: str,
) -> list[str]:
    """Give the command that runs another one in the container's file system, on a host so named."""
    if not mounts or not words:
        return list(words)
    root = layer / "root"
    for part in ("upper", "work", "root"):
        (layer / part).mkdir(parents=True, exist_ok=True)
    layers = f"lowerdir=/,upperdir={layer}/upper,workdir={layer}/work"
    lines = [
        "set -e",
        f"echo {shlex.quote(host)} > /proc/sys/kernel/hostname",
        f"mount -t overlay overlay -o {layers} {root}",
        *(f"mount --rbind /{name} {root}/{name}" for name in ("proc", "dev", "sys")),
    ]
    for source, target, read_only in mounts:
        lines += _mounting(root, source, target, read_only=read_only)
    if container.get("securityContext", {}).get("readOnlyRootFilesystem"):
        lines.append(f"mount -o remount,ro {root}")
    folder = container.get("workingDir", "/")
    lines.append(f"exec chroot {root} env -C {shlex.quote(folder)} {shlex.join(words)}")
    return ["unshare", "--uts", "--mount", "--propagation", "private", "sh", "-c", "\n".join(lines)]


def _mounting(root: Path, source: Path, target: str, *, read_only: bool) -> list[str]:
    """Mount by the name that the container sees: links on the way are its own."""
    there = shlex.quote(target)
    made = f"mkdir -p {there}" if source.is_dir() else f"mkdir -p $(dirname {there}); touch {there}"
    lines = [
        f"chroot {root} sh -c {shlex.quote(made)}",
        f"there={root}$(chroot {root} readlink -f {there})",
        f'mount --bind {shlex.quote(str(source))} "$there"',
    ]
    return [*lines, 'mount -o remount,bind,ro "$there"'] if read_only else lines
