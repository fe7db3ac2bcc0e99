"""Manifests that ship inside Go modules: definitions of other people's kinds, and kwok's stages.

They are copied from the module once, kept beside the built programs, and never committed.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.programs import MissingError, alone, cache, go, say


@dataclass(frozen=True)
class Module:
    """A module, its version, and which of its files are wanted."""

    path: str
    version: str
    files: tuple[str, ...]


MODULES: Mapping[str, Module] = {
    "kwok": Module(
        "sigs.k8s.io/kwok", "v0.8.0",
        (
            "kustomize/stage/node/fast/node-initialize.yaml",
            "kustomize/stage/pod/general/pod-*.yaml",
            "kustomize/stage/pod/chaos/pod-container-running-failed.yaml",
        ),
    ),
    "keda": Module("github.com/kedacore/keda/v2", "v2.21.0", ("config/crd/bases/*.yaml",)),
    "istio": Module("istio.io/api", "v1.32.0", ("kubernetes/customresourcedefinitions.gen.yaml",)),
    "kueue": Module("sigs.k8s.io/kueue", "v0.17.0", ("config/components/crd/bases/*.yaml",)),
    "kuberay": Module(
        "github.com/ray-project/kuberay/ray-operator", "v1.5.0", ("config/crd/bases/*.yaml",)
    ),
    "prometheus-operator": Module(
        "github.com/prometheus-operator/prometheus-operator", "v0.85.0",
        (
            "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
        ),
    ),
}  # fmt: skip


def manifests(name: str) -> list[Path]:
    """Give the files of a module that must be in the cache by now."""
    kept = sorted(_place(name).glob("*.yaml"))
    if not kept:
        raise MissingError(f"manifests of {name}: not there; run python -m tests.cluster build")
    return kept


def collect() -> None:
    """Bring every module's files into the cache."""
    for name, module in MODULES.items():
        place = _place(name)
        if place.is_dir():
            continue
        tool = go()
        with alone(cache() / "manifests"):
            if not place.is_dir():
                say(f"taking manifests of {name} {module.version}")
                _copy(_downloaded(tool, module), module, place)


def _place(name: str) -> Path:
    return cache() / "manifests" / f"{name}-{MODULES[name].version}"


def _downloaded(tool: str, module: Module) -> Path:
    ended = subprocess.run(
        [tool, "mod", "download", "-json", f"{module.path}@{module.version}"],
        cwd=cache(), env={**os.environ, "GOWORK": "off"}, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    if ended.returncode:
        raise MissingError(f"{module.path}: {ended.stdout.strip()} {ended.stderr.strip()}"[:1000])
    return Path(json.loads(ended.stdout)["Dir"])


def _copy(source: Path, module: Module, place: Path) -> None:
    half = place.with_name(f".{place.name}")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    for pattern in module.files:
        for path in sorted(source.glob(pattern)):
            if path.name != "kustomization.yaml":
                shutil.copyfile(path, half / path.name)  # not its mode: modules are read-only
    half.rename(place)
