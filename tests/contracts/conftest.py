"""The implementations of the store's ports: in memory, a real SQLite file, a real PostgreSQL."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from controlplane.adapters.sql.address import Address
from controlplane.adapters.sql.migrate import upgrade
from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.tables import metadata
from tests.contracts.books import Books, books_in_memory, books_of
from tests.postgresql import postgresql, programs


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A migrated PostgreSQL database, where the machine has PostgreSQL."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with postgresql() as url:
        upgrade(url)
        yield url


@pytest.fixture
def emptied(server: str) -> str:
    """Its address, all rows gone."""
    engine = create_engine(Address(server).blocking_url)
    names = ", ".join(table.name for table in metadata.sorted_tables)
    with engine.begin() as connection:
        connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY"))
    engine.dispose()
    return server


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
async def books(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Books]:
    """A store that was never written to."""
    if request.param == "memory":
        yield books_in_memory()
        return
    where = tmp_path if request.param == "sqlite" else request.getfixturevalue("emptied")
    async with open_store(where, "world-1", create=True) as store:
        yield books_of(store)
