"""What can go wrong with a store, as one sentence each. No traceback reaches a person.

`StoreError` is an `UnavailableError`: a loop that meets one skips its cycle and looks again, the
command line prints the sentence and ends with 1.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DatabaseError, IntegrityError, InterfaceError, ProgrammingError

from controlplane.adapters.sql.server_faults import server_says
from controlplane.ports import UnavailableError


class StoreError(UnavailableError, RuntimeError):
    """The store cannot be used; the text says why in one sentence."""


_SQLITE_SAYS = {
    sqlite3.SQLITE_BUSY: "is locked by another program; stop it or wait, then try again",
    sqlite3.SQLITE_LOCKED: "is locked by another program; stop it or wait, then try again",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full; free some space, then try again",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: its folder is missing or may not be written",
    sqlite3.SQLITE_READONLY: "may not be written: check who owns the file and its folder",
    sqlite3.SQLITE_PERM: "may not be opened: check who owns the file and its folder",
    sqlite3.SQLITE_AUTH: "may not be opened: check who owns the file and its folder",
    sqlite3.SQLITE_NOTADB: "is not a database; give another folder or move the file away",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a backup or move the file away",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk reports an error",
}
_NO_PERMISSION = "42501"  # PostgreSQL counts a missing GRANT among wrong statements


def sentence(error: BaseException, shown: str) -> str:
    """Say in one sentence what is wrong with the store shown as `shown`."""
    cause = getattr(error, "orig", None) or error
    code = getattr(cause, "sqlite_errorcode", None)
    said = _SQLITE_SAYS.get(code & 0xFF) if isinstance(code, int) else None
    if said is None:
        said = server_says(cause)
    return f"the store {shown} {said}"


@contextmanager
def translated(shown: str) -> Iterator[None]:
    """Turn what a driver raises about its database into a `StoreError`; bugs stay what they are."""
    try:
        yield
    except IntegrityError:
        raise  # our statement is wrong, not the store
    except ProgrammingError as error:
        # Without a state it was refused before there was a connection: an option nobody knows.
        wrong_statement = getattr(error.orig, "sqlstate", "") not in (None, _NO_PERMISSION)
        if wrong_statement:
            raise
        raise StoreError(sentence(error, shown)) from error
    except (DatabaseError, InterfaceError, sqlite3.DatabaseError, OSError) as error:
        raise StoreError(sentence(error, shown)) from error
