"""The programs of a Kubernetes control plane, built from Go modules once and kept outside the tree.

`KUBEBUILDER_ASSETS` names a folder to look into first. What is missing there is looked for in the
cache, keyed by the hash of its go.sum, and what is missing there too is built. Two that build at
the same time wait for each other.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from controlplane.clock import stopwatch

SOURCES = Path(__file__).parent / "binaries"
OLDEST_GO = (1, 26)

_VERSION = re.compile(r"v?\d+\.\d+\.\d+\S*")

_KUBERNETES = "v1.36.3"
_COMPONENT = "k8s.io/component-base/version"
_STAMPS = {
    "kubernetes": f"-X {_COMPONENT}.gitVersion={_KUBERNETES} "
    f"-X {_COMPONENT}.gitMajor=1 -X {_COMPONENT}.gitMinor=36",
    "kwok": "-X sigs.k8s.io/kwok/pkg/consts.Version=v0.8.0",
    "keda": "-X github.com/kedacore/keda/v2/version.Version=2.21.0",
}


@dataclass(frozen=True)
class Program:
    """One binary: the folder of its go.mod and the package it is built from."""

    folder: str
    package: str


PROGRAMS: Mapping[str, Program] = {
    "etcd": Program("kubernetes", "go.etcd.io/etcd/server/v3"),
    "kube-apiserver": Program("kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    "kube-controller-manager": Program(
        "kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager"
    ),
    "kube-scheduler": Program("kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler"),
    "kubectl": Program("kubernetes", "k8s.io/kubernetes/cmd/kubectl"),
    "kwok": Program("kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    "keda-operator": Program("keda", "github.com/kedacore/keda/v2/cmd/operator"),
    "keda-adapter": Program("keda", "github.com/kedacore/keda/v2/cmd/adapter"),
}
PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok")
KEDA = ("keda-operator", "keda-adapter")


class MissingError(Exception):
    """What the test cluster needs and this machine has not; one sentence."""


def cache() -> Path:
    """Give the folder that outlives checkouts."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "controlplane-tests"


def built(name: str) -> Path:
    """Give the place where the cache has a program, whether it is there or not."""
    folder = PROGRAMS[name].folder
    key = hashlib.sha256((SOURCES / folder / "go.sum").read_bytes()).hexdigest()[:12]
    return cache() / "bin" / f"{folder}-{key}" / name


def located(name: str) -> Path | None:
    """Give a program that is there."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    places = [*([Path(assets) / name] if assets else []), built(name)]
    return next((place for place in places if place.is_file()), None)


def found(names: Sequence[str] = PLANE) -> dict[str, Path]:
    """Give programs that must be there by now."""
    places = {name: located(name) for name in names}
    missing = sorted(name for name, place in places.items() if place is None)
    if missing:
        raise MissingError(
            f"{', '.join(missing)}: not built; run python -m tests.cluster build --keda"
        )
    return {name: place for name, place in places.items() if place is not None}


def go() -> str:
    """Give the Go tool; the one in Debian is too old for a current Kubernetes."""
    wanted = ".".join(map(str, OLDEST_GO))
    tool = shutil.which("go")
    if tool is None:
        raise MissingError(f"go: not installed; Go {wanted} or newer builds the control plane")
    said = _output([tool, "env", "GOVERSION"]).removeprefix("go")
    numbers = tuple(int(part) for part in said.split("-")[0].split(".")[:2] if part.isdigit())
    if numbers < OLDEST_GO:
        raise MissingError(f"go: {tool} is {said}, Kubernetes {_KUBERNETES} needs {wanted}")
    return tool


def build(names: Sequence[str] = PLANE) -> None:
    """Build what is missing, one line of progress each."""
    missing = [name for name in names if located(name) is None]
    if not missing:
        return
    tool = go()
    for name in missing:
        with alone(built(name).parent):
            if located(name) is None:  # the one we waited for may have built it
                _build(tool, name)


def _build(tool: str, name: str) -> None:
    program, place = PROGRAMS[name], built(name)
    say(f"building {name} in {program.folder} (minutes the first time, then never again)")
    began = stopwatch()
    half = place.with_name(f".{name}")  # never a half-written program under its own name
    flags = f"-s -w {_STAMPS[program.folder]}"
    environment = {**os.environ, "CGO_ENABLED": "0"}
    ended = subprocess.run(
        [tool, "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", half,
         program.package],
        cwd=SOURCES / program.folder, env=environment, check=False, capture_output=True, text=True,
    )  # fmt: skip
    if ended.returncode:
        raise MissingError(f"{name}: go build failed: {ended.stderr.strip()[-2000:]}")
    half.rename(place)
    say(f"built {name} in {stopwatch() - began:.0f} s")


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a folder of the cache; whoever else wants it waits."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another one that builds in {folder}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def versions(places: Mapping[str, Path]) -> dict[str, str]:
    """Ask each program what it is."""
    asked = {name: ["--version"] for name in places} | {"kubectl": ["version", "--client"]}
    said = {name: _output([place, *asked[name]]) for name, place in places.items()}
    found = {name: _VERSION.search(text) for name, text in said.items()}
    return {name: version[0] for name, version in found.items() if version}


def say(sentence: str) -> None:
    """Tell the person at the terminal; standard output belongs to the command."""
    click.echo(f"cluster: {sentence}", err=True)


def _output(command: Sequence[str | Path]) -> str:
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    return ended.stdout.strip()
