"""PostgreSQL by URL: the same tables, and one sentence where it cannot be used."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

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
        StoreError, match=r"postgresql.*127\.0\.0\.1:1/fleet cannot be reached"
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


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("fleet@", "stranger@"), 'does not let this user in: role "stranger" does not exist'),
        (("/postgres?", "/nodb?"), "does not exist; make it: createdb nodb"),
        (("?host=", "?host=/nowhere"), "cannot be reached: No such file or directory"),
        (("?", "?bogus=1&"), 'cannot be used: invalid connection option "bogus"'),
        (("fleet@", "reader@"), "takes no writes: it is a standby, or read-only"),
        (("fleet@", "crowd@"), "has no connection left: too many connections"),
    ],
)
def test_each_failure_is_one_sentence_that_says_what_to_do(
    server: str, change: tuple[str, str], sentence: str
) -> None:
    engine = create_engine(Address(server).blocking_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
        connection.execute(text("DROP ROLE IF EXISTS reader, crowd"))
        connection.execute(text("CREATE ROLE reader LOGIN"))
        connection.execute(text("ALTER ROLE reader SET default_transaction_read_only = on"))
        connection.execute(text("CREATE ROLE crowd LOGIN CONNECTION LIMIT 0"))
    engine.dispose()

    with pytest.raises(StoreError) as caught:
        upgrade(server.replace(*change))

    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "where", ["fleet:s3cret@host/name", "fleet@host/name?password=s3cret&sslmode=require"]
)
def test_an_address_for_people_has_no_password(where: str) -> None:
    assert "s3cret" not in str(Address(f"postgresql://{where}"))
    assert "s3cret" in Address(f"postgresql://{where}").url.render_as_string(hide_password=False)


def test_what_an_address_says_about_its_connection_stands_over_our_limits() -> None:
    address = Address("postgresql://host/name?connect_timeout=60&application_name=mine")

    assert address.url.query["connect_timeout"] == "60"
    assert address.url.query["application_name"] == "mine"
    assert address.url.query["tcp_user_timeout"] == "15000"


def test_two_daemons_that_start_at_once_migrate_once(server: str) -> None:
    engine = create_engine(Address(server).blocking_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()

    with ThreadPoolExecutor(4) as daemons:
        list(daemons.map(upgrade, [server] * 4))

    assert not upgrade(server)


async def test_two_daemons_that_read_one_file_at_once_store_one_version(server: str) -> None:
    upgrade(server)
    async with (
        open_store(server, "cluster-2") as first,
        open_store(server, "cluster-2") as second,
    ):
        for number in range(10):
            adding = (one.catalogues.add(f"v{number}", "f", "start", T0) for one in (first, second))
            a, b = await asyncio.gather(*adding)
            assert a == b
        versions = await first.catalogues.versions(limit=100)

    assert len(versions) == 10
