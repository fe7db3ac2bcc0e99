"""Where the points of the drawings lie, worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.http.pages.labels import place_labels
from controlplane.http.pages.pictures import (
    cell_places,
    colours,
    lane_parts,
    meter,
    nice_ticks,
    spark,
    stacked_bars,
)
from controlplane.http.reads.shapes.fleet import DeviceCell
from controlplane.http.reads.shapes.models import LaneCounts


def test_a_sparkline_scales_by_its_limit_and_ends_in_a_point() -> None:
    drawn = spark(((0.0, 0.0), (5.0, 15.0), (10.0, 30.0)), 30.0)

    # 30 s with a quarter of headroom: the limit lies at 4/5 of 26 units from the floor.
    assert drawn.limit_y == pytest.approx(26 - 26 / 1.25, abs=0.05)
    assert drawn.end == (88.0, drawn.limit_y)
    assert drawn.pieces == ("0,26 44,15.6 88,5.2",)
    assert not drawn.hot


def test_what_is_unknown_is_a_gap_and_no_zero() -> None:
    drawn = spark(((0.0, 1.0), (1.0, 1.0), (2.0, None), (3.0, 2.0), (4.0, 2.0)), None)

    assert len(drawn.pieces) == 2
    assert spark(((0.0, 1.0), (1.0, None)), None).end is None


def test_a_sparkline_beyond_its_limit_is_hot_only_while_it_is() -> None:
    assert spark(((0.0, 1.0), (1.0, 3.0)), 2.0).hot
    assert not spark(((0.0, 3.0), (1.0, 1.0)), 2.0).hot
    assert not spark(((0.0, 3.0), (1.0, None)), 2.0).hot


def test_nothing_known_draws_nothing() -> None:
    assert spark((), 1.0).pieces == ()
    assert spark(((0.0, None),), None).end is None


def test_a_meter_shows_value_and_limit_on_one_scale() -> None:
    assert meter(0.88, 0.85, 1.0) == (0.88, 0.85, True)
    assert meter(41.0, 30.0)[1] == pytest.approx(30 / 48)
    assert meter(None, 0.85, 1.0) == (0.0, 0.85, False)


def test_bars_stack_to_their_sum() -> None:
    bars = stacked_bars([("mon", {"a": 1.0, "b": 3.0}), ("tue", {"a": 2.0})], ("a", "b"))

    first, second = bars.segments[0], bars.segments[1]
    assert second.y + second.height == pytest.approx(first.y, abs=0.11)
    assert second.height == pytest.approx(3 * first.height, abs=0.2)
    assert [label for _, label in bars.labels] == ["mon", "tue"]


@given(st.floats(1e-6, 1e12))
def test_a_scale_ends_just_beyond_its_value_in_round_steps(value: float) -> None:
    ticks = nice_ticks(value)

    assert ticks[0] == 0.0
    assert ticks[-1] >= value * 0.999999
    assert ticks[-2] < value
    assert len(ticks) <= 6


def test_lanes_are_drawn_in_the_order_of_service() -> None:
    counts = LaneCounts(serving=2, warm=2, sleeping=1, loading=1, draining=1)

    drawn = lane_parts(counts)

    assert [block.lane for block in drawn.blocks] == [
        "serving",
        "serving",
        "warm",
        "warm",
        "loading",
        "draining",
    ]
    assert [block.sleeping for block in drawn.blocks].count(True) == 1
    assert drawn.more == 0
    assert lane_parts(LaneCounts(serving=40)).more == 26


def test_devices_of_one_replica_stand_together() -> None:
    cells = [
        DeviceCell(index=0, model="a", replica="a-0", lane="serving"),
        DeviceCell(index=1, model="a", replica="a-0", lane="serving"),
        DeviceCell(index=2),
        DeviceCell(index=3),
    ]

    assert cell_places(cells) == (0, 21, 45, 69)


def test_the_ninth_model_takes_the_first_colour_again() -> None:
    given_colours = colours([f"model-{n}" for n in range(9)])

    assert given_colours["model-0"] == given_colours["model-8"] == "m1"
    assert len(set(given_colours.values())) == 8


def test_labels_of_near_points_do_not_lie_on_each_other() -> None:
    points = [(100.0, 100.0, "seed-000"), (110.0, 102.0, "hpa:0.7"), (95.0, 104.0, "static:6")]

    labels = place_labels(points, 400.0)

    assert len({(label.x, label.y) for label in labels}) == 3
    assert labels == place_labels(points, 400.0)


def test_a_label_stays_within_the_picture() -> None:
    (label,) = place_labels([(390.0, 50.0, "controlplane:service")], 400.0)

    assert label.end
    assert label.x < 390.0
