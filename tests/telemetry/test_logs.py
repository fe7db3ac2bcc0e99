"""Logs: readable by machines or people, and never with a secret in them."""

import json
import logging
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
import structlog

from controlplane.telemetry.logs import REDACTED, configure

TOKEN = "cp_" + "a" * 43


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


def lines(out: StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.fixture
def out() -> StringIO:
    stream = StringIO()
    configure(stream=stream)
    return stream


def test_a_record_is_one_line_of_json_with_time_level_and_speaker(out: StringIO) -> None:
    structlog.get_logger("controlplane.loops").warning("cycle skipped", cause="no answer")

    (record,) = lines(out)
    assert record["event"] == "cycle skipped"
    assert record["cause"] == "no answer"
    assert record["level"] == "warning"
    assert record["timestamp"].endswith("Z")


def test_what_is_bound_for_the_loop_at_hand_is_in_every_record(out: StringIO) -> None:
    with structlog.contextvars.bound_contextvars(loop="scaling"):
        structlog.get_logger().info("decided")

    assert lines(out)[0]["loop"] == "scaling"


def test_records_of_libraries_look_the_same(out: StringIO) -> None:
    logging.getLogger("asyncio").warning("slow %s", "callback")

    assert lines(out)[0]["event"] == "slow callback"


@pytest.mark.parametrize(
    "fields",
    [
        {"token": TOKEN},
        {"password": "hunter2"},
        {"headers": {"Authorization": "Bearer hunter2", "Cookie": "hunter2"}},
        {"note": f"called with {TOKEN}"},
        {"note": "Authorization: bearer hunter2"},
        {"url": "postgresql://me:hunter2@db/cp"},
        {"many": [f"x {TOKEN}", ("redis://:hunter2@r",)]},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_secrets_never_reach_a_log(out: StringIO, fields: dict[str, Any]) -> None:
    structlog.get_logger().info("x", **fields)

    assert "hunter2" not in out.getvalue()
    assert TOKEN not in out.getvalue()
    assert REDACTED in out.getvalue()


def test_secrets_never_reach_a_log_through_a_traceback(out: StringIO) -> None:
    try:
        int(TOKEN)
    except ValueError:
        structlog.get_logger().exception("failed")

    assert TOKEN not in out.getvalue()
    assert "ValueError" in lines(out)[0]["exception"]


def test_ordinary_words_are_left_alone(out: StringIO) -> None:
    structlog.get_logger().info("x", tokens_per_s=5, model="chat", url="http://a/b")

    (record,) = lines(out)
    assert (record["tokens_per_s"], record["url"]) == (5, "http://a/b")


def test_below_the_level_nothing_is_said() -> None:
    stream = StringIO()
    configure(level="warning", stream=stream)
    structlog.get_logger().info("x")
    logging.getLogger("x").info("y")

    assert stream.getvalue() == ""


def test_people_get_lines_to_read_and_no_secrets_either() -> None:
    stream = StringIO()
    configure(as_json=False, stream=stream)
    try:
        int(TOKEN)
    except ValueError:
        structlog.get_logger().exception("failed", why=TOKEN)

    text = stream.getvalue()
    assert "failed" in text
    assert TOKEN not in text
