"""Where the daemon of a store answers: told in a file beside the store, for commands on that store.

Without it a command would ask the usual port, where another daemon may answer for another store.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

FILE = "daemon.json"


class _Daemon(msgspec.Struct):
    address: str
    pid: int


@contextmanager
def announced(folder: Path, address: str) -> Iterator[None]:
    """Tell where this process answers for as long as it does."""
    file = folder / FILE
    with suppress(OSError):  # a folder that takes no file keeps nobody from serving
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(msgspec.json.encode(_Daemon(address, os.getpid())))
    try:
        yield
    finally:
        if _read(file) == _Daemon(address, os.getpid()):
            with suppress(OSError):
                file.unlink()


def whereabouts(folder: Path) -> str | None:
    """Give the address of the daemon that serves this folder's store, where one is known to run."""
    found = _read(folder / FILE)
    return found.address if found is not None and _runs(found.pid) else None


def _read(file: Path) -> _Daemon | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=_Daemon)
    except (OSError, msgspec.MsgspecError):
        return None


def _runs(pid: int) -> bool:
    """Say whether there is such a process; what is left of one that was killed tells nothing."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # somebody else's, hence there
        return True
    return pid > 0
