from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.costs.bill import bill
from controlplane.decide.costs.cycle import CostMemory, CostSeen, cycle, decide_metered, metered
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Choice
from controlplane.domain.fleet import FleetView
from controlplane.domain.ledger import LedgerRow, LineKind
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.replicas import Lane
from controlplane.domain.samples import Absence, NoData
from tests.decide.costs.fleet import (
    CHAT,
    DEVICES_OF,
    MINUTE,
    NODES,
    T4,
    TEN,
    VISION,
    a_catalogue,
    a_replica,
    a_view,
    assert_adds_up,
    paid_by_kind,
)


class Books:
    """A ledger and a loop memory, as a daemon has them; a crash may lose the newest of either."""

    def __init__(self) -> None:
        self.rows: dict[tuple[object, ...], LedgerRow] = {}
        self.until: Instant | None = None
        self.memory = CostMemory()

    def look(
        self,
        at: Instant,
        view: FleetView,
        catalogue: Catalogue,
        *,
        version: int = 1,
        since: Instant = 0.0,
        crossed: dict[ModelName, float] | None = None,
        lose: str = "",
    ) -> tuple[LedgerRow, ...]:
        seen = CostSeen(
            at=at,
            view=view,
            billed_until=self.until,
            catalogue_version=version,
            catalogue_since=since,
            crossed=crossed or {},
        )
        rows, memory = cycle(seen, catalogue, DEVICES_OF, self.memory)
        if lose != "memory":
            self.memory = msgspec.json.decode(msgspec.json.encode(memory), type=CostMemory)
        if lose != "write":
            self.write(rows)
        return rows

    def write(self, rows: Sequence[LedgerRow]) -> None:
        for row in rows:
            self.rows.setdefault((row.node, row.device, row.start, row.kind, row.model), row)
            self.until = max(self.until or 0.0, row.end)

    @property
    def all(self) -> list[LedgerRow]:
        return sorted(self.rows.values(), key=lambda row: (row.node, row.device, row.start))


def covers(rows: list[LedgerRow], start: Instant, end: Instant) -> bool:
    """Say whether every device is billed from start to end, without a gap and without overlap."""
    spans: dict[tuple[str, int], set[tuple[float, float]]] = {}
    for row in rows:
        spans.setdefault((row.node, row.device), set()).add((row.start, row.end))
    for of_device in spans.values():
        at = start
        for begin, to in sorted(of_device):
            if begin != at:
                return False
            at = to
        if at != end:
            return False
    return len(spans) == sum(node.devices for node in NODES)


def test_every_whole_minute_is_billed_once_it_is_over() -> None:
    books = Books()
    for at in range(0, 151, 15):
        books.look(TEN + at, a_view(a_replica("c1")), a_catalogue())

    assert covers(books.all, TEN, TEN + 2 * MINUTE)
    assert_adds_up(books.all)
    assert not any(row.reconstructed for row in books.all)


def test_a_lane_that_changes_within_the_minute_is_billed_by_time() -> None:
    books = Books()
    books.look(TEN, a_view(a_replica("c1", lane=Lane.LOADING)), a_catalogue())
    books.look(TEN + 45, a_view(a_replica("c1")), a_catalogue())
    books.look(TEN + 60, a_view(a_replica("c1")), a_catalogue())
    paid = paid_by_kind(books.all)

    assert_adds_up(books.all)
    assert paid[LineKind.LOADING, CHAT] / paid[LineKind.SERVING, CHAT] == pytest.approx(3, rel=1e-4)


def test_c2_minutes_the_daemon_was_down_are_billed_afterwards_and_marked() -> None:
    """C2: down for 7 minutes; running an interval twice changes nothing."""
    books = Books()
    view = a_view(a_replica("c1"))
    for at in (0, 60, 120):
        books.look(TEN + at, view, a_catalogue())
    back = TEN + 120 + 7 * MINUTE
    books.look(back, view, a_catalogue())
    once = books.all
    books.until = TEN + 60  # as if the ledger had lost track: the intervals run again
    books.look(back + 1, view, a_catalogue())

    assert books.all == once
    assert covers(once, TEN, back)
    assert_adds_up(once)
    assert {row.start for row in once if row.reconstructed} == {
        TEN + 120 + i * MINUTE for i in range(7)
    }


def test_c3_a_new_price_at_ten_twenty_splits_the_interval() -> None:
    """C3: 10:20:20, within a minute; before it the old price, after it the new one."""
    books = Books()
    change = TEN + 20 * MINUTE + 20
    view = a_view(a_replica("v1", VISION, "t1"))
    books.look(TEN + 20 * MINUTE, view, a_catalogue(t4="0.60"), version=1)
    books.look(change + 10, view, a_catalogue(t4="1.20"), version=2, since=change)
    books.look(TEN + 21 * MINUTE, view, a_catalogue(t4="1.20"), version=2, since=change)
    rows = [row for row in books.all if row.node_class == T4]

    assert [(row.start, row.end, row.micros, row.catalogue_version) for row in rows] == [
        (TEN + 1200, change, bill(600_000, TEN + 1200, change), 1),
        (change, TEN + 1260, bill(1_200_000, change, TEN + 1260), 2),
    ]
    assert_adds_up(books.all)


def test_c3_a_price_that_changes_on_the_minute_needs_no_split() -> None:
    books = Books()
    change = TEN + 20 * MINUTE
    for at in range(19 * 60, 21 * 60 + 1, 30):
        new = TEN + at >= change
        catalogue = a_catalogue(t4="1.20" if new else "0.60")
        books.look(TEN + at, a_view(), catalogue, version=1 + new, since=change if new else 0.0)
    rows = [row for row in books.all if row.node_class == T4]

    assert [(row.start, row.micros) for row in rows] == [
        (change - 60, 10_000),
        (change, 20_000),
    ]


def test_a_class_the_catalogue_forgot_is_still_paid_at_its_last_price() -> None:
    books = Books()
    whole = a_catalogue()
    fewer = Catalogue(node_classes={}, models={})
    books.look(TEN, a_view(a_replica("v1", VISION, "t1")), whole, version=1)
    books.look(TEN + 60, a_view(a_replica("v1", VISION, "t1")), fewer, version=2, since=TEN + 59)
    books.look(TEN + 120, a_view(a_replica("v1", VISION, "t1")), fewer, version=2, since=TEN + 59)

    assert {row.price_micros_per_hour for row in books.all if row.node == "t1"} == {526_000}
    assert {row.team for row in books.all if row.node == "t1"} == {"see"}


def test_nodes_that_cannot_be_listed_are_billed_from_what_was_last_known() -> None:
    books = Books()
    blind = FleetView(at=TEN, nodes=NoData(Absence.FORBIDDEN), replicas=())
    books.look(TEN, a_view(a_replica("c1")), a_catalogue())
    for at in (30, 60, 90, 120):
        books.look(TEN + at, blind, a_catalogue())

    assert covers(books.all, TEN, TEN + 120)
    assert [row.reconstructed for row in books.all if row.model == CHAT] == [True] * 4


def test_nodes_that_come_and_go_are_billed_while_they_are_seen() -> None:
    books = Books()
    books.look(TEN, a_view(nodes=NODES[:2]), a_catalogue())
    books.look(TEN + 30, a_view(), a_catalogue())
    books.look(TEN + 90, a_view(nodes=NODES[:2]), a_catalogue())
    books.look(TEN + 120, a_view(nodes=NODES[:2]), a_catalogue())

    assert [(r.start - TEN, r.end - TEN) for r in books.all if r.node == "t1"] == [
        (30, 60),
        (60, 90),
    ]
    assert_adds_up(books.all)


def test_a_device_stays_the_model_s_when_its_older_neighbour_leaves() -> None:
    books = Books()
    old, young = a_replica("c1", created_at=1), a_replica("c2", created_at=2)
    books.look(TEN, a_view(old, young), a_catalogue())
    books.look(TEN + 60, a_view(young), a_catalogue())
    books.look(TEN + 120, a_view(young), a_catalogue())

    assert {r.device for r in books.all if r.node == "a1" and r.start == TEN + 60 and r.model} == {
        2,
        3,
    }


def test_what_crossed_zones_is_a_row_of_its_own() -> None:
    books = Books()
    books.look(TEN, a_view(), a_catalogue())
    books.look(TEN + 30, a_view(), a_catalogue(), crossed={CHAT: 2.0})
    books.look(TEN + 60, a_view(), a_catalogue(), crossed={CHAT: 3.0})
    rows = [row for row in books.all if row.kind is LineKind.CROSS_ZONE]

    assert [(r.model, r.team, r.device, r.micros) for r in rows] == [(CHAT, "talk", -1, 50_000)]


def test_a_long_absence_is_caught_up_with_over_several_cycles() -> None:
    books = Books()
    view = a_view(a_replica("c1"))
    books.look(TEN, view, a_catalogue())
    back = TEN + 5 * 3600
    for at in range(4):
        books.look(back + at, view, a_catalogue())

    assert covers(books.all, TEN, back)
    assert_adds_up(books.all)


def test_a_clock_that_goes_back_bills_nothing_twice() -> None:
    books = Books()
    view = a_view(a_replica("c1"))
    for at in (0, 60, 30, 40, 120):
        books.look(TEN + at, view, a_catalogue())

    assert covers(books.all, TEN, TEN + 120)
    assert_adds_up(books.all)


@given(
    st.lists(
        st.tuples(
            st.floats(1, 200).map(lambda s: round(s, 3)),
            st.sampled_from(["", "", "", "memory", "write"]),
            st.sampled_from(list(Lane)),
            st.booleans(),
        ),
        min_size=2,
        max_size=25,
    )
)
def test_law_8_holds_whatever_crashed(looks: list[tuple[float, str, Lane, bool]]) -> None:
    """Memory or ledger may lose a cycle: every device is still billed once, without a gap."""
    books = Books()
    at = TEN
    books.look(at, a_view(), a_catalogue())
    for pause, lose, lane, dearer in looks:
        at = round(at + pause, 3)
        view = a_view(a_replica("c1", lane=lane), a_replica("v1", VISION, "a2", lane))
        catalogue = a_catalogue(a100="5.00" if dearer else "3.43")
        books.look(at, view, catalogue, version=1 + dearer, since=at, lose=lose)
    books.look(at + 60, a_view(), a_catalogue(), since=at + 60)
    assert books.until is not None

    assert covers(books.all, TEN, books.until)
    assert at <= books.until <= at + 60
    assert_adds_up(books.all)


def told(rows: tuple[LedgerRow, ...]) -> Choice | None:
    sum_of_rows = metered(rows)
    return decide_metered(sum_of_rows) if sum_of_rows else None


def test_what_was_billed_is_said_and_what_was_reconstructed_too() -> None:
    """Metered and Reconstructed are the codes of the cost loop."""
    books = Books()
    books.look(TEN, a_view(), a_catalogue())
    on_time = told(books.look(TEN + 60, a_view(), a_catalogue()))
    late = told(books.look(TEN + 600, a_view(), a_catalogue()))
    assert on_time is not None
    assert late is not None

    assert [reason.code for reason in on_time.trail] == [ReasonCode.METERED]
    assert [reason.code for reason in late.trail] == [ReasonCode.METERED, ReasonCode.RECONSTRUCTED]
    assert late.trail[1].evidence[0].value == 540
    assert told(()) is None
