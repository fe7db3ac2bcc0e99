"""A file has changed when its text has, not when its date has."""

from pathlib import Path

import pytest

from controlplane.domain.faults import FaultsError
from controlplane.settings import FileWatch


def test_a_new_text_is_given_until_it_is_settled(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text("a: 1\n")
    watch = FileWatch(file, settled="a: 1\n")

    assert watch.changed() is None
    file.write_text("a: 2\n")
    assert watch.changed() == "a: 2\n"
    assert watch.changed() == "a: 2\n"
    watch.settle("a: 2\n")
    assert watch.changed() is None


def test_the_same_text_saved_again_is_no_change(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text("a: 1\n")
    watch = FileWatch(file)

    assert watch.changed() == "a: 1\n"
    watch.settle("a: 1\n")
    file.unlink()
    file.write_text("a: 1\n")
    assert watch.changed() is None


def test_a_link_that_is_swapped_is_followed(tmp_path: Path) -> None:
    """So a mounted ConfigMap is replaced."""
    for name in ("one", "two"):
        (tmp_path / name).write_text(name)
    link = tmp_path / "fleet.yaml"
    link.symlink_to(tmp_path / "one")
    watch = FileWatch(link, settled="one")

    link.unlink()
    link.symlink_to(tmp_path / "two")

    assert watch.changed() == "two"


def test_a_file_on_its_way_is_a_fault_until_it_is_back(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    watch = FileWatch(file, settled="a: 1\n")

    with pytest.raises(FaultsError, match="cannot be read: No such file or directory"):
        watch.changed()
    file.write_text("a: 1\n")
    assert watch.changed() is None


def test_a_file_that_is_no_text_is_a_fault(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_bytes(b"a: \xff\n")

    with pytest.raises(FaultsError, match="is not UTF-8 text: byte 3 is 0xff"):
        FileWatch(file).changed()
