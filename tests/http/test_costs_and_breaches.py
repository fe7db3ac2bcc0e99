"""Costs that add up to the bill; the time from a breach to capacity."""

from dataclasses import replace

import pytest

from controlplane.http.reads.costs import CostQuery, costs
from controlplane.http.reads.hour import Progress, new_points, watch_breach
from controlplane.http.state import State
from tests.builders import CHAT
from tests.http.conftest import T0, a_point


async def test_costs_are_shown_adding_up_to_the_bill(state: State) -> None:
    found = await costs(state, CostQuery(start=T0 - 3600, end=T0, by="team"))

    assert {line.key: line.total for line in found.lines} == {
        "text": 70_000,
        "=text": 50_000,
        "—": 30_000,
    }
    assert found.total == found.bill == 150_000  # three device minutes at 3.00 an hour
    assert found.adds_up
    assert found.by_kind == {"serving": 70_000, "idle": 30_000, "warm": 50_000}
    assert sum(line.device_hours for line in found.lines) == pytest.approx(3 / 60)


async def test_a_filter_narrows_the_lines_and_never_the_bill(state: State) -> None:
    found = await costs(state, CostQuery(start=T0 - 3600, end=T0, by="model", team="text"))

    assert found.total == 70_000
    assert found.bill == 150_000
    assert found.adds_up


async def test_a_ledger_that_lost_a_row_does_not_add_up(state: State) -> None:
    rows = [row for row in await state.ledger.rows(T0 - 3600, T0) if row.kind != "idle"]
    short = type(state.ledger)()
    await short.write(rows)

    found = await costs(replace(state, ledger=short), CostQuery(start=T0 - 3600, end=T0))

    assert (found.total, found.bill, found.adds_up) == (120_000, 150_000, False)


def test_a_breach_is_answered_by_the_first_added_capacity() -> None:
    points = [
        a_point(0.0, serving=4),
        a_point(5.0, serving=4, wait=0.2),
        a_point(10.0, serving=4, wait=0.3),
        a_point(15.0, serving=5, wait=0.3),
        a_point(20.0, serving=6),
    ]
    limits = dict.fromkeys(points[0].wait_p99, 0.1)

    assert watch_breach("chat", Progress(), points, limits).breach == (5.0, "chat", 10.0)
    assert watch_breach("chat", Progress(), points[:3], limits).breach == (5.0, "chat", None)
    assert watch_breach("chat", Progress(), points[:1], limits).breach is None


def test_the_newest_of_several_breaches_is_told() -> None:
    waits = (0.2, 0.0, 0.2, 0.2)
    points = [a_point(5.0 * i, serving=4 + (i == 3), wait=wait) for i, wait in enumerate(waits)]

    found = watch_breach("chat", Progress(), points, dict.fromkeys(points[0].wait_p99, 0.1))

    assert found.breach == (10.0, "chat", 5.0)


def test_a_breach_is_followed_over_several_looks() -> None:
    points = [
        a_point(0.0, serving=4),
        a_point(5.0, serving=4, wait=0.2),
        a_point(10.0, serving=5, wait=0.2),
    ]
    limits = dict.fromkeys(points[0].wait_p99, 0.1)
    progress = Progress()

    for point in points:
        progress = watch_breach("chat", progress, [point], limits)

    assert progress.breach == (5.0, "chat", 5.0)


def test_each_point_is_looked_at_once(state: State) -> None:
    points = state.history.points(CHAT)

    assert list(new_points(state.history, CHAT, 0.0)) == points
    assert list(new_points(state.history, CHAT, points[-3].at)) == points[-2:]
    assert list(new_points(state.history, CHAT, points[10].at)) == points[11:]
    assert list(new_points(state.history, CHAT, points[-1].at)) == []
