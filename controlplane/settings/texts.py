"""Reads the text of a file people wrote; a file that cannot be read is a fault of the input."""

from pathlib import Path

from controlplane.domain.faults import Fault, FaultsError


def written_text(path: Path) -> str:
    """Give the file's text."""
    try:
        return path.read_text("utf-8-sig")  # editors on Windows put a mark in front
    except UnicodeDecodeError as error:
        rule = f"is not UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}"
        raise FaultsError([Fault(str(path), None, "", "", rule)]) from error
    except OSError as error:
        rule = f"cannot be read: {error.strerror or error}"
        raise FaultsError([Fault(str(path), None, "", "", rule)]) from error
