"""Brings a store to this version's tables.

Blocking: call it before the loops, or in a thread. `upgrade_apart` runs it in a process of its own,
so that a daemon does not keep what only a migration needs (8 MB).
"""

import asyncio
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from controlplane.adapters.sql.address import Address
from controlplane.adapters.sql.database import BUSY_TIMEOUT_S, WRITING, tune_sqlite
from controlplane.adapters.sql.faults import StoreError, translated
from controlplane.adapters.sql.schema import HEAD, Schema, objection, schema
from controlplane.shipped import shipped

_LOCK = 4_711_001  # any number that only this product's migrations use
_BROUGHT_UP = {Schema.EMPTY, Schema.OLDER}


def upgrade(where: str | Path | Address, wait_s: float = BUSY_TIMEOUT_S) -> bool:
    """Create or migrate the tables; say whether there was anything to do.

    It is one transaction: a full disk in its middle leaves everything as it was.
    Raises StoreError with one sentence when it cannot be done.
    """
    address = where if isinstance(where, Address) else Address(where)
    make_folder(address)
    with _connected(address, wait_s) as connection:
        state, revision = schema(connection)
        connection.rollback()
        if state is Schema.CURRENT:
            return False
        if state not in _BROUGHT_UP:
            raise StoreError(objection(state, revision, str(address)) or "")
        _run(connection)
    return True


async def upgrade_apart(where: str) -> None:
    """Do as `upgrade` does; without anything to do, nothing is started.

    Where no process may be started it is done here.
    """
    if await asyncio.to_thread(_is_current, Address(where)):
        return
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", __name__),
            stdin=asyncio.subprocess.PIPE,  # a command line is seen by everybody
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError:
        await asyncio.to_thread(upgrade, where)
        return
    _, said = await process.communicate(where.encode())
    if process.returncode:
        lines = said.decode("utf-8", "replace").splitlines()
        raise StoreError(lines[-1] if lines else f"the migration of {Address(where)} was ended")


def _is_current(address: Address) -> bool:
    if address.missing:
        return False
    with _connected(address, BUSY_TIMEOUT_S) as connection:
        return schema(connection)[0] is Schema.CURRENT


def check(address: Address, wait_s: float = BUSY_TIMEOUT_S) -> None:
    """Raise StoreError with one sentence when a store cannot be opened or has other tables."""
    with _connected(address, wait_s) as connection:
        reason = objection(*schema(connection), str(address))
    if reason is not None:
        raise StoreError(reason)


@contextmanager
def _connected(address: Address, wait_s: float) -> Iterator[Connection]:
    with translated(str(address)):
        try:
            engine = create_engine(address.blocking_url, poolclass=NullPool)
        except ImportError as error:
            raise StoreError(
                f"the store {address} needs the package {error.name}: "
                "install controlplane[postgresql]"
            ) from error
        if address.kind == "sqlite":
            tune_sqlite(engine, wait_s)
        with engine.connect() as connection:
            yield connection


def make_folder(address: Address) -> None:
    """Make the folder of an SQLite file."""
    if address.file is None:
        return
    try:
        address.file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the store's folder {address.file.parent} cannot be made: {error.strerror}"
        ) from error


def _run(connection: Connection) -> None:
    # Imported here, for only a migration needs it: a start without one is faster and smaller.
    command, config = import_module("alembic.command"), import_module("alembic.config").Config()
    config.set_main_option("script_location", str(shipped("migrations")).replace("%", "%%"))
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it lists its plugins otherwise
    config.attributes["connection"] = connection.execution_options(**WRITING)
    with connection.begin():
        if connection.dialect.name == "postgresql":  # two replicas may start at once
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        command.upgrade(config, HEAD)


if __name__ == "__main__":
    try:
        upgrade(sys.stdin.read())
    except StoreError as cause:
        sys.exit(str(cause))
