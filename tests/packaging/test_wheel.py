"""What is built is whole: the wheel runs on its own, and the sdist builds the same wheel."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import urllib.request
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
SHIPPED = "controlplane/_shipped/"
FOLDERS = {
    "web/templates": SHIPPED + "web/templates",
    "web/static": SHIPPED + "web/static",  # with what npm brought, where it is installed
    "web/locale": SHIPPED + "web/locale",
    "migrations": SHIPPED + "migrations",
    "deploy/examples": SHIPPED + "examples",
    "controlplane/simulation/scenarios": "controlplane/simulation/scenarios",
    "controlplane/simulation/traces": "controlplane/simulation/traces",
    "controlplane/settings/profiles": "controlplane/settings/profiles",
}


def build(kind: str, source: Path, into: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(into)],
        cwd=source, check=True, capture_output=True,
    )  # fmt: skip
    (built,) = into.iterdir()
    return built


def contents(wheel: Path) -> set[str]:
    with ZipFile(wheel) as packed:
        return set(packed.namelist())


def files(folder: Path) -> set[str]:
    """Every file that belongs to the product: neither hidden nor compiled."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".") and path.suffix != ".pyc"
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked_sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))) as packed:
        packed.extractall(folder, filter="data")
    (only,) = folder.iterdir()
    return only


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel where nothing of the checkout is seen, and give its command.

    The dependencies are borrowed from this environment: a .pth file that is itself named by a .pth
    file is not read, so the editable install stays out of sight.
    """
    place = tmp_path_factory.mktemp("installed")
    venv.create(place, symlinks=True)
    subprocess.run(
        [Path(sys.executable).with_name("uv"), "pip", "install", "--quiet", "--offline",
         "--no-deps", "--no-index", "--python", place / "bin" / "python", wheel],
        check=True, capture_output=True,
    )  # fmt: skip
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    return place / "bin" / "controlplane"


def away(data: Path | None) -> dict[str, str]:
    """Give an environment in which nothing leads back to the checkout."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CONTROLPLANE_"))}
    return clean if data is None else clean | {"CONTROLPLANE_DATA": str(data)}


def said(command: Path, *arguments: str | Path, data: Path | None = None) -> str:
    """Run the installed command away from the checkout; it must end with 0."""
    ended = subprocess.run(
        [command, *arguments], cwd=command.parent, env=away(data),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_wheel_has_every_file_of(folder: str, wheel: Path) -> None:
    wanted = {f"{FOLDERS[folder]}/{name}" for name in files(ROOT / folder)}

    assert wanted
    assert wanted <= contents(wheel)


def test_the_wheel_is_typed_licensed_and_has_no_litter(wheel: Path) -> None:
    names = contents(wheel)

    assert "controlplane/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert [name for name in names if name.endswith(".pyc") or "node_modules" in name] == []
    assert {name.split("/")[0].split("-")[0] for name in names} == {"controlplane"}


def test_the_sdist_builds_the_same_wheel(
    unpacked_sdist: Path, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    again = build("wheel", unpacked_sdist, tmp_path_factory.mktemp("again"))

    assert contents(again) == contents(wheel)


def test_the_sdist_holds_the_product_its_documents_and_nothing_else(unpacked_sdist: Path) -> None:
    assert {path.name for path in unpacked_sdist.iterdir()} == {
        ".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "controlplane", "deploy",
        "docs", "migrations", "pyproject.toml", "web",
    }  # fmt: skip


def test_the_installed_command_helps(command: Path) -> None:
    assert "Usage: controlplane" in said(command, "--help")


def test_the_installed_command_checks_the_example_that_it_ships(command: Path) -> None:
    (example,) = command.parents[1].glob(f"lib/*/site-packages/{SHIPPED}examples/fleet.yaml")

    assert "7 models" in said(command, "check", example)


def test_the_installed_command_migrates_a_new_store(command: Path, tmp_path: Path) -> None:
    said(command, "migrate", data=tmp_path)

    assert [path.name for path in tmp_path.glob("*.sqlite3")] != []


def test_the_installed_command_knows_its_scenarios_and_profiles(command: Path) -> None:
    assert re.search(r"\bseed-000-day\b", said(command, "simulate", "--help"))
    assert said(command, "schema", "--kind", "scenario").startswith("{")


def test_the_installed_daemon_serves_its_page_with_all_it_refers_to(
    command: Path, tmp_path: Path
) -> None:
    with subprocess.Popen(
        [command, "serve", "--port", "0"], cwd=command.parent, env=away(tmp_path),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as daemon:  # fmt: skip
        try:
            assert daemon.stdout is not None
            address = daemon.stdout.readline().split()[-1]
            page = fetched(address)
            assets = set(re.findall(r'(?:href|src)="(/static/[^"#?]+)', page))
            assert assets
            assert [asset for asset in sorted(assets) if not fetched(address + asset)] == []
        finally:
            daemon.terminate()
        assert daemon.wait(30) == 0


def fetched(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return str(answer.read().decode())
