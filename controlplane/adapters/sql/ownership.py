"""One daemon a folder: two would answer for two fleets with the same pauses, pins and numbers.

The lock is the operating system's: it is gone with the process that held it, however that ended.
PostgreSQL is made for several; there the leader's lease decides who acts.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controlplane.adapters.sql.address import Address
from controlplane.adapters.sql.faults import StoreError
from controlplane.adapters.sql.migrate import make_folder

LOCK_NAME = "controlplane.lock"


@contextmanager
def sole_daemon(where: str | Path) -> Iterator[None]:
    """Keep other daemons out of a folder; StoreError names the one that is there already."""
    address = Address(where)
    if address.file is None:
        yield
        return
    make_folder(address)
    path = address.file.with_name(LOCK_NAME)
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        _take(lock, path, address)
        yield
    finally:
        os.close(lock)


def _take(lock: int, path: Path, address: Address) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.read(lock, 20).decode(errors="replace").strip() or "of unknown number"
        raise StoreError(
            f"the store {address} is in use by another daemon (process {holder}); "
            "stop it, or give this one a folder of its own with --data"
        ) from error
    try:
        os.ftruncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(f"the store's folder {path.parent} cannot be written: {error.strerror}")
