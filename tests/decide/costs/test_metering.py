from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.costs.bill import bill
from controlplane.decide.costs.meter import meter
from controlplane.domain.fleet import FleetView
from controlplane.domain.ledger import LineKind
from controlplane.domain.quantities import ModelName
from controlplane.domain.replicas import Lane, Phase, Replica
from controlplane.domain.samples import Absence, NoData
from tests.decide.costs.fleet import (
    A100,
    CHAT,
    DEVICES_OF,
    SPEECH,
    T4,
    TEN,
    VISION,
    a_catalogue,
    a_replica,
    a_view,
    assert_adds_up,
    paid_by_kind,
)

HOUR = (TEN, TEN + 3600.0)
A100_HOUR, T4_HOUR = 3_430_000, 526_000


@given(
    price=st.integers(0, 10**8),
    cuts=st.lists(st.integers(0, 10**10), min_size=2, max_size=20),
)
def test_a_stretch_costs_the_same_wherever_it_is_cut(price: int, cuts: list[int]) -> None:
    moments = [TEN + cut / 1000 for cut in sorted(cuts)]
    parts = [bill(price, a, b) for a, b in pairwise(moments)]

    assert sum(parts) == bill(price, moments[0], moments[-1])
    assert all(part >= 0 for part in parts)


def test_sixty_minutes_are_an_hour_to_the_millionth() -> None:
    minutes = [bill(T4_HOUR, TEN + 60 * i, TEN + 60 * (i + 1)) for i in range(60)]

    assert sum(minutes) == T4_HOUR
    assert set(minutes) == {8766, 8767}


def test_a_replica_pays_for_all_its_devices_whole_and_the_rest_is_idle() -> None:
    rows = meter(a_view(a_replica("c1")), a_catalogue(), DEVICES_OF, HOUR)

    assert_adds_up(rows)
    assert paid_by_kind(rows) == {
        (LineKind.SERVING, CHAT): 2 * A100_HOUR,
        (LineKind.IDLE, None): 6 * A100_HOUR + T4_HOUR,
    }
    assert {(r.node, r.device) for r in rows if r.model} == {("a1", 0), ("a1", 1)}
    assert {r.team for r in rows if r.model} == {"talk"}


@pytest.mark.parametrize(
    ("lane", "phase", "kind"),
    [
        (Lane.SERVING, Phase.RUNNING, LineKind.SERVING),
        (Lane.WARM, Phase.RUNNING, LineKind.WARM),
        (Lane.LOADING, Phase.PENDING, LineKind.LOADING),
        (Lane.DRAINING, Phase.RUNNING, LineKind.DRAINING),
        (Lane.SERVING, Phase.TERMINATING, LineKind.DRAINING),
    ],
)
def test_every_lane_has_its_kind_of_line(lane: Lane, phase: Phase, kind: LineKind) -> None:
    rows = meter(a_view(a_replica("c1", lane=lane, phase=phase)), a_catalogue(), DEVICES_OF, HOUR)

    assert paid_by_kind(rows)[kind, CHAT] == 2 * A100_HOUR


@pytest.mark.parametrize(
    "nobody",
    [a_replica("c1", node=None), a_replica("c1", phase=Phase.FAILED), a_replica("c1", node="gone")],
)
def test_a_replica_without_a_device_pays_nothing(nobody: Replica) -> None:
    rows = meter(a_view(nobody), a_catalogue(), DEVICES_OF, HOUR)

    assert {row.kind for row in rows} == {LineKind.IDLE}
    assert_adds_up(rows)


def test_a_silent_node_is_still_on_the_bill() -> None:
    view = a_view(a_replica("c1", node_ready=False))

    assert paid_by_kind(meter(view, a_catalogue(), DEVICES_OF, HOUR))[LineKind.SERVING, CHAT]


def test_replicas_that_share_a_device_pay_by_reserved_memory_and_leave_idle() -> None:
    """Eight small replicas on four devices: two a device; 8 + 20 of 80 GiB are reserved."""
    small = [a_replica(f"v{i}", VISION, created_at=i) for i in range(4)]
    asleep = [a_replica(f"z{i}", SPEECH, lane=Lane.WARM, created_at=9, sleeping=True) for i in "ab"]
    rows = meter(a_view(*small, *asleep), a_catalogue(), DEVICES_OF, HOUR)
    paid = paid_by_kind(row for row in rows if row.node == "a1")

    assert_adds_up(rows)
    assert paid[LineKind.WARM, SPEECH] == 2 * A100_HOUR * 20 // 80
    assert paid[LineKind.SERVING, VISION] == 2 * A100_HOUR + 2 * A100_HOUR * 8 // 80
    assert paid[LineKind.IDLE, None] == 2 * A100_HOUR * 52 // 80


def test_more_than_the_device_holds_is_shared_without_idle() -> None:
    both = [a_replica("c1", created_at=1), a_replica("c2", created_at=2)]
    third = a_replica("c3", created_at=3, lane=Lane.WARM, sleeping=True)  # 70 GiB a device, twice
    rows = [
        row
        for row in meter(a_view(*both, third), a_catalogue(), DEVICES_OF, HOUR)
        if row.node == "a1"
    ]

    assert_adds_up(rows)
    assert paid_by_kind(rows) == {
        (LineKind.SERVING, CHAT): 3 * A100_HOUR,
        (LineKind.WARM, CHAT): A100_HOUR,
    }


def test_what_the_catalogue_does_not_know_holds_its_device_and_has_no_team() -> None:
    stranger = a_replica("x", ModelName("unlisted"), node="t1")
    (row,) = [r for r in meter(a_view(stranger), a_catalogue(), DEVICES_OF, HOUR) if r.node == "t1"]

    assert (row.model, row.team, row.micros) == ("unlisted", None, T4_HOUR)


def test_no_node_list_is_no_bill_rather_than_a_bill_of_nothing() -> None:
    view = FleetView(at=TEN, nodes=NoData(Absence.FORBIDDEN), replicas=(a_replica("c1"),))

    assert meter(view, a_catalogue(), DEVICES_OF, HOUR) == ()


@given(
    st.lists(
        st.tuples(
            st.sampled_from([CHAT, VISION, SPEECH]),
            st.sampled_from(["a1", "a2", "t1", None]),
            st.sampled_from(list(Lane)),
            st.sampled_from(list(Phase)),
        ),
        max_size=25,
    ),
    st.integers(1, 100_000_000),
    st.integers(1, 7_200_000),
)
def test_law_8_rows_and_idle_are_the_bill(
    found: list[tuple[ModelName, str | None, Lane, Phase]], price: int, ms: int
) -> None:
    replicas = [
        a_replica(f"r{i}", model, node, lane, created_at=i % 3, phase=phase)
        for i, (model, node, lane, phase) in enumerate(found)
    ]
    catalogue = a_catalogue(a100=f"{price / 10**6:.6f}")
    rows = meter(a_view(*replicas), catalogue, DEVICES_OF, (TEN, TEN + ms / 1000))

    assert_adds_up(rows)
    assert {(row.node, row.device) for row in rows} == {
        *(("a1", i) for i in range(4)),
        *(("a2", i) for i in range(4)),
        ("t1", 0),
    }
    assert sum(row.micros for row in rows) == 8 * bill(price, TEN, TEN + ms / 1000) + bill(
        T4_HOUR, TEN, TEN + ms / 1000
    )


def test_classes_are_billed_at_their_own_price() -> None:
    rows = meter(a_view(), a_catalogue(), DEVICES_OF, HOUR)

    assert {row.node_class: row.micros for row in rows} == {A100: A100_HOUR, T4: T4_HOUR}
