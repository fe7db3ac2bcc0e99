"""Which server shares slots out: its address, or the file that holds one with a password."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from controlplane.adapters.redis.shares import refused_address
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.sources import PASSWORD

Command = TypeVar("Command", bound=Callable[..., Any])
FILE = click.Path(dir_okay=False, path_type=Path)


def shared_options(command: Command) -> Command:
    """Let a command be told."""
    url = click.option("--shared", metavar="URL", help="redis:// server to share slots by.")
    file = click.option(
        "--shared-file", type=FILE, help="File with that URL, where it has a password."
    )
    return url(file(command))


def shared_address(url: str | None, file: Path | None) -> str:
    """Give the address; none where nothing was said. Raises FaultsError where it is none."""
    if url is not None and file is not None:
        raise click.UsageError("give either --shared or --shared-file")
    if file is not None:
        return _checked("--shared-file", _read(file), str(file))
    if url is None:
        return ""
    if PASSWORD.search(url):
        rule = (
            "must hold no password, for the list of processes shows it to everybody: "
            "write it into a file and name that with --shared-file"
        )
        raise FaultsError([Fault("--shared", None, "", PASSWORD.sub(r"\1:***@", url), rule)])
    return _checked("--shared", url, url)


def _checked(option: str, address: str, shown: str) -> str:
    why = refused_address(address)
    if why is not None:
        raise FaultsError([Fault(option, None, "", shown, why)])
    return address


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        rule = f"cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}"
        raise FaultsError([Fault("--shared-file", None, "", str(file), rule)]) from error
