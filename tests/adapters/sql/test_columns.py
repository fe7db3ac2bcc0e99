"""Instants keep their zone, JSON stays JSON."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Column, Engine, Integer, MetaData, Table, create_engine, func, insert, select

from controlplane.adapters.sql.columns import JsonText, UtcDateTime

metadata = MetaData()
moments = Table(
    "moments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", UtcDateTime),
    Column("said", JsonText),
)


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = create_engine("sqlite://")
    metadata.create_all(made)
    yield made
    made.dispose()
    made.dispose()


def stored(
    engine: Engine, at: float | None, said: bytes | None = None
) -> tuple[float | None, bytes | None]:
    with engine.begin() as connection:
        connection.execute(insert(moments).values(at=at, said=said))
        newest = select(moments.c.at, moments.c.said).order_by(moments.c.id.desc()).limit(1)
        row = connection.execute(newest).one()
    return row.at, row.said


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # rows only add up
@given(st.integers(min_value=0, max_value=10**16))
def test_an_instant_is_kept_to_the_microsecond(engine: Engine, micros: int) -> None:
    assert stored(engine, micros / 1e6)[0] == micros / 1e6


def test_an_instant_is_text_in_utc_and_comes_back_through_max_as_a_number(engine: Engine) -> None:
    with engine.connect() as connection:
        connection.execute(insert(moments), [{"at": 1_800_000_000.5}, {"at": 0.0}])
        text = connection.exec_driver_sql("SELECT at FROM moments ORDER BY at DESC").scalar()
        newest = connection.scalar(select(func.max(moments.c.at)))
        later = connection.scalar(
            select(func.count()).where(moments.c.at > 1_800_000_000.0).select_from(moments)
        )
        connection.rollback()

    assert text == "2027-01-15 08:00:00.500000"
    assert newest is not None
    assert newest - 1_800_000_000.0 == 0.5
    assert later == 1


def test_the_end_of_time_can_be_asked_for(engine: Engine) -> None:
    at, _ = stored(engine, float("inf"))

    assert at is not None
    assert at > 2.5e11


def test_nothing_stays_nothing(engine: Engine) -> None:
    assert stored(engine, None, None) == (None, None)


def test_json_comes_back_byte_by_byte(engine: Engine) -> None:
    assert (
        stored(engine, 0.0, '{"why":"显存不足 🙂"}'.encode())[1] == '{"why":"显存不足 🙂"}'.encode()
    )
