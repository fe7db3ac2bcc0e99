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
        handle = path.open("a+")
    except OSError as error:
        raise StoreError(
            f"the store's folder {path.parent} may not be written: {error.strerror}"
        ) from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            handle.seek(0)
            holder = handle.read().strip() or "of unknown number"
            raise StoreError(
                f"the store {address} is in use by another daemon (process {holder}); "
                "stop it, or give this one a folder of its own with --data"
            ) from error
        handle.truncate(0)
        handle.write(f"{os.getpid()}\n")
        handle.flush()
        yield
