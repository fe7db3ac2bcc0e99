"""PostgreSQL by URL: the same tables, and one sentence where it cannot be used."""

from collections.abc import Iterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from controlplane.adapters.sql.address import Address
from controlplane.adapters.sql.faults import StoreError
from controlplane.adapters.sql.migrate import upgrade
from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.tables import metadata
from tests.postgresql import postgresql, programs
from tests.stored import T0, a_hold, a_raise


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with postgresql() as url:
        yield url


def test_the_tables_in_the_code_are_those_the_migrations_make(server: str) -> None:
    upgrade(server)
    engine = create_engine(Address(server).blocking_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})

        assert compare_metadata(context, metadata) == []
    engine.dispose()
    assert not upgrade(server)


async def test_two_replicas_share_one_store(server: str) -> None:
    """The one that leads writes, the other reads; when it takes over it goes on counting."""
    async with (
        open_store(server, "cluster-1", create=True) as leader,
        open_store(server, "cluster-1") as follower,
    ):
        await leader.journal.open("scaling", [a_raise(), a_hold("sdxl")], T0, 1)
        await leader.memory.save("scaling", b"{}")

        (left_open,) = await follower.journal.unsettled("scaling")
        assert left_open.subject == "chat"
        assert await follower.memory.load("scaling") == b"{}"
        assert await follower.journal.open("scaling", [a_hold("sdxl")], T0 + 5.0, 1) == [None]


def test_a_server_that_is_not_there_says_so() -> None:
    with pytest.raises(
        StoreError, match=r"postgresql.*127\.0\.0\.1:1/fleet cannot be used"
    ) as caught:
        upgrade("postgresql://fleet:s3cret@127.0.0.1:1/fleet")

    assert "\n" not in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_a_database_one_may_not_write_says_so(server: str) -> None:
    engine = create_engine(Address(server).blocking_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("CREATE ROLE guest LOGIN"))
        connection.execute(text("CREATE DATABASE other"))
    engine.dispose()

    with pytest.raises(StoreError, match="permission denied"):
        upgrade(server.replace("fleet@/postgres", "guest@/other"))
