"""Programs in the folder that KUBEBUILDER_ASSETS names are used, and nothing is built."""

from pathlib import Path

import pytest

from tests.cluster import programs
from tests.cluster.programs import PLANE, built, found, located
from tests.cluster.test_missing import laptop, run

__all__ = ["laptop"]  # a fixture


def written(place: Path, text: str = "") -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    place.chmod(0o755)
    return place


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "assets"
    folder.mkdir()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_a_program_in_the_folder_comes_before_the_one_in_the_cache(assets: Path) -> None:
    theirs, ours = written(assets / "etcd"), written(built("etcd"))

    assert located("etcd") == theirs
    theirs.unlink()
    assert located("etcd") == ours


def test_what_the_folder_lacks_is_taken_from_the_cache_and_else_named(assets: Path) -> None:
    written(assets / "etcd")
    written(built("kubectl"))

    assert found(["etcd", "kubectl"]) == {"etcd": assets / "etcd", "kubectl": built("kubectl")}
    with pytest.raises(programs.MissingError, match="kwok: not built"):
        found(["etcd", "kwok"])


def test_without_it_only_the_cache_is_looked_into(
    assets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(assets / "etcd")
    monkeypatch.delenv("KUBEBUILDER_ASSETS")

    assert located("etcd") is None


@pytest.mark.usefixtures("cluster")
def test_a_whole_cluster_comes_up_from_it_where_there_is_no_go_and_nothing_was_built(
    laptop: dict[str, str], tmp_path: Path
) -> None:
    """A cluster within this one, of programs that note that they were run."""
    folder, ran = tmp_path / "assets", tmp_path / "ran"
    for name, place in found().items():
        written(folder / name, f'#!/bin/sh\necho {name} >>"{ran}"\nexec "{place}" "$@"\n')
    cache = Path(laptop["XDG_CACHE_HOME"]) / "controlplane-tests"
    cache.mkdir(parents=True)
    (cache / "manifests").symlink_to(programs.cache() / "manifests")  # Go would download them

    ended = run({**laptop, "KUBEBUILDER_ASSETS": str(folder)}, "true")

    assert ended.returncode == 0, ended.stderr
    assert "API requests served" in ended.stderr
    assert "building" not in ended.stderr
    assert set(ran.read_text().split()) == set(PLANE)
    assert not (cache / "bin").exists()
