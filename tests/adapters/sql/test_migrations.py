"""Tables come from migrations; whatever is wrong with a store is said in one sentence."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, event, inspect

from controlplane.adapters.sql.address import FILE_NAME, Address
from controlplane.adapters.sql.faults import StoreError
from controlplane.adapters.sql.migrate import upgrade, upgrade_apart
from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.schema import HEAD, REVISIONS
from controlplane.adapters.sql.tables import metadata
from controlplane.shipped import shipped


@pytest.fixture
def migrated(tmp_path: Path) -> Path:
    upgrade(tmp_path)
    return tmp_path / FILE_NAME


@pytest.fixture
def full_disk() -> Iterator[None]:
    """No database may grow beyond eight pages: what a full disk is to SQLite."""

    def limit(connection: object, _record: object) -> None:
        assert isinstance(connection, sqlite3.Connection)
        connection.execute("PRAGMA max_page_count = 8")

    event.listen(Engine, "connect", limit)
    yield
    event.remove(Engine, "connect", limit)


def one_sentence(error: BaseException) -> str:
    text = str(error)
    assert "\n" not in text
    assert "sqlalche.me" not in text
    return text


def test_the_tables_in_the_code_are_those_the_migrations_make(migrated: Path) -> None:
    engine = create_engine(f"sqlite:///{migrated}")
    with engine.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)

        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_indexes_and_keys_are_those_the_migrations_make(migrated: Path) -> None:
    """Autogenerate does not compare partial indexes, WITHOUT ROWID and AUTOINCREMENT."""
    by_code = create_engine("sqlite://")
    metadata.create_all(by_code)
    query = "SELECT name, replace(replace(sql, char(10), ''), char(9), '') FROM sqlite_master"
    theirs = f"{query} WHERE name != 'alembic_version' AND sql IS NOT NULL ORDER BY name"
    with by_code.connect() as connection:
        wanted = [(row[0], row[1]) for row in connection.exec_driver_sql(theirs)]
    by_code.dispose()
    made = create_engine(f"sqlite:///{migrated}")
    with made.connect() as connection:
        found = [(row[0], row[1]) for row in connection.exec_driver_sql(theirs)]
    made.dispose()

    assert [normal(sql) for sql in found] == [normal(sql) for sql in wanted]


def normal(named: tuple[str, str]) -> tuple[str, list[str]]:
    """Constraints may stand in another order."""
    name, sql = named
    return name, sorted(sql.replace(" ", "").replace("DATETIME", "TIMESTAMP").split(","))


def test_the_revisions_known_without_alembic_are_the_scripts() -> None:
    config = Config()
    config.set_main_option("script_location", str(shipped("migrations")))
    scripts = ScriptDirectory.from_config(config)

    assert tuple(s.revision for s in scripts.walk_revisions())[::-1] == REVISIONS
    assert scripts.get_current_head() == HEAD


def test_migrating_twice_does_it_once(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "on the way 100%"

    assert upgrade(folder)
    assert not upgrade(folder)


async def test_a_process_of_its_own_does_it_once_and_tells_what_stands_against_it(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "made" / "on the way 100%"
    script = f"""
import asyncio, sys
from controlplane.adapters.sql.migrate import upgrade_apart
asyncio.run(upgrade_apart({str(folder)!r}))
print([name for name in sys.modules if name.partition('.')[0] == 'alembic'])
"""
    told = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", script], check=True, stdout=subprocess.PIPE
    )
    assert told.stdout == b"[]\n"

    assert not upgrade(folder)
    await upgrade_apart(str(folder))

    with sqlite3.connect(folder / FILE_NAME) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0999'")
    connection.close()
    with pytest.raises(StoreError, match=r"newer version .its tables are 0999") as caught:
        await upgrade_apart(str(folder))
    one_sentence(caught.value)


def test_every_migration_can_be_taken_back(migrated: Path) -> None:
    from alembic import command  # noqa: PLC0415  # as the product imports it

    engine = create_engine(f"sqlite:///{migrated}")
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(shipped("migrations")))
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    assert inspect(engine).get_table_names() == ["alembic_version"]
    engine.dispose()

    assert upgrade(migrated.parent)


async def test_a_store_of_a_newer_version_is_left_alone(migrated: Path) -> None:
    with sqlite3.connect(migrated) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0999'")
    connection.close()

    with pytest.raises(StoreError, match=r"newer version .its tables are 0999") as migrating:
        upgrade(migrated.parent)
    with pytest.raises(StoreError, match="newer version") as opening:
        async with open_store(migrated.parent):
            pass

    assert one_sentence(migrating.value) == one_sentence(opening.value)


def test_a_database_with_other_tables_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()

    with pytest.raises(StoreError, match="holds other tables"):
        upgrade(tmp_path)


def test_a_locked_database_says_so(migrated: Path) -> None:
    other = sqlite3.connect(migrated)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("UPDATE alembic_version SET version_num = ''")
    other.commit()
    other.execute("BEGIN EXCLUSIVE")

    with pytest.raises(StoreError, match="is locked by another program") as caught:
        upgrade(migrated.parent, wait_s=0.05)

    assert str(migrated) in one_sentence(caught.value)
    other.close()


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_says_so_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the disk is full") as caught:
        upgrade(tmp_path)

    one_sentence(caught.value)
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    connection.close()


def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StoreError, match=r"folder .*file/data cannot be made: Not a directory"):
        upgrade(tmp_path / "file" / "data")


def test_a_file_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()

    with pytest.raises(StoreError, match="its folder is missing or may not be written") as caught:
        upgrade(tmp_path)

    one_sentence(caught.value)


def test_a_store_that_may_only_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).touch()

    with pytest.raises(StoreError, match="may not be written") as caught:
        upgrade(f"sqlite:///file:{tmp_path / FILE_NAME}?mode=ro&uri=true")

    one_sentence(caught.value)
    assert not Path("file:").exists()  # it is part of an address, and no folder


async def test_a_store_that_cannot_be_opened_leaves_no_thread_behind(tmp_path: Path) -> None:
    """A driver's thread would outlive the event loop and print a traceback."""
    (tmp_path / FILE_NAME).mkdir()
    before = set(threading.enumerate())

    with pytest.raises(StoreError, match="cannot be opened"):
        async with open_store(tmp_path):
            pass

    left = [thread.name for thread in set(threading.enumerate()) - before]
    assert not [name for name in left if not name.startswith("asyncio_")]


def test_a_file_that_is_no_database_says_so(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("dear diary, " * 100)

    with pytest.raises(StoreError, match="is not a database"):
        upgrade(tmp_path)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://root@db/fleet", "begins with mysql: only sqlite and postgresql are known"),
        ("postgresql://:::/", "is no URL such as postgresql"),
        ("sqlite://", "names no file"),
    ],
)
def test_an_address_that_is_no_store_says_so(url: str, sentence: str) -> None:
    with pytest.raises(StoreError, match=sentence):
        upgrade(url)


def test_a_password_is_never_shown() -> None:
    address = Address("postgresql://fleet:s3cret@db/fleet")

    assert str(address) == "postgresql://fleet:***@db/fleet"
    assert "s3cret" in address.url.render_as_string(hide_password=False)


async def test_a_store_that_is_not_there_says_how_to_make_it(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with pytest.raises(StoreError, match=r"there is no store at .* yet: run controlplane serve"):
        async with open_store(folder):
            pass

    assert not await asyncio.to_thread(folder.exists)
