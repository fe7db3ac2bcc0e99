from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.costs.crossing import crossed_gib, crossing_share
from controlplane.decide.costs.meter import meter
from controlplane.decide.costs.views import Line, lines, totals
from controlplane.domain.fleet import FleetView
from controlplane.domain.ledger import LedgerRow, LineKind
from controlplane.domain.quantities import ModelName, Zone
from controlplane.domain.replicas import Lane
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
)

HOUR = (TEN, TEN + 3600.0)
FLEET = a_view(
    a_replica("c1"),
    a_replica("c2", lane=Lane.WARM, created_at=1),
    a_replica("v1", VISION, "a2"),
    a_replica("s1", SPEECH, "a2", created_at=1),
)
ROWS = meter(FLEET, a_catalogue(), DEVICES_OF, HOUR)
BILL = 8 * 3_430_000 + 526_000


def of_team(team: str) -> set[Line]:
    return {line for line in lines(ROWS, "proportional") if line.team == team}


def test_c1_unfiltered_lines_are_the_bill_and_idle_keeps_its_own() -> None:
    """C1: rows + idle = the bill."""
    by_kind = totals(lines(ROWS), "kind")

    assert sum(by_kind.values()) == BILL
    assert by_kind[LineKind.IDLE] == 2 * 3_430_000 + 526_000
    assert totals(lines(ROWS), "team") == {
        "talk": 4 * 3_430_000,
        "see": 2 * 3_430_000,
        None: 2 * 3_430_000 + 526_000,
    }


def test_c1_filtered_views_never_share_idle_twice() -> None:
    """C1: two teams' own views, with idle shared, are two parts of one whole."""
    whole = lines(ROWS, "proportional")
    talk = totals(whole, "team", lambda line: line.team == "talk")["talk"]
    see = totals(whole, "team", lambda line: line.team == "see")["see"]
    unused = totals(whole, "kind")[LineKind.IDLE]

    assert talk + see + unused == BILL
    assert (talk, see) == (4 * 3_430_000 + 4_573_334, 2 * 3_430_000 + 2_286_666)


def test_c1_the_idle_of_a_class_nobody_uses_keeps_its_line() -> None:
    """C1: the T4 stood idle all day; nobody is charged for it."""
    (left,) = [line for line in lines(ROWS, "proportional") if line.kind is LineKind.IDLE]

    assert (left.node_class, left.micros, left.team) == (T4, 526_000, None)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([CHAT, VISION, SPEECH]),
            st.sampled_from(["a1", "a2", "t1"]),
            st.integers(0, 30),
        ),
        max_size=12,
    )
)
def test_c1_every_grouping_adds_up_to_the_bill(held: list[tuple[ModelName, str, int]]) -> None:
    rows: list[LedgerRow] = []
    for i, (model, node, hour) in enumerate(held):
        span = (TEN + hour * 3600, TEN + hour * 3600 + 1800)
        rows += meter(a_view(a_replica(f"r{i}", model, node)), a_catalogue(), DEVICES_OF, span)
    bill = sum(row.micros for row in rows)

    for idle in ("own", "proportional"):
        shown = lines(rows, idle)
        for by in ("team", "model", "node_class", "kind", "day"):
            assert sum(totals(shown, by).values()) == bill


def test_a_day_begins_at_midnight_utc() -> None:
    rows = [
        *meter(a_view(), a_catalogue(), DEVICES_OF, (TEN + 50_340, TEN + 50_400)),
        *meter(a_view(), a_catalogue(), DEVICES_OF, (TEN + 50_400, TEN + 50_460)),
    ]

    assert list(totals(lines(rows), "day")) == ["2025-11-29", "2025-11-30"]


def test_requests_cross_as_often_as_a_blind_balancer_sends_them_elsewhere() -> None:
    zones = {Zone("north"), Zone("south")}
    even = (a_replica("c1"), a_replica("c2", node="a2"))

    assert crossing_share(zones, even) == 0.5
    assert crossing_share({Zone("north")}, even[:1]) == 0.0
    assert crossing_share(zones, ()) == 0.0
    assert crossed_gib(a_view(*even), a_catalogue(egress=0.001), {CHAT: 4000.0}) == {CHAT: 2.0}


def test_without_a_node_list_or_a_size_nothing_is_known_to_cross() -> None:
    blind = FleetView(at=TEN, nodes=NoData(Absence.FORBIDDEN), replicas=(a_replica("c1"),))

    assert crossed_gib(blind, a_catalogue(egress=0.001), {CHAT: 1.0}) == {}
    assert crossed_gib(a_view(a_replica("c1")), a_catalogue(), {CHAT: 1.0}) == {}


def test_lines_name_the_class_that_was_held() -> None:
    assert set(totals(lines(ROWS), "node_class")) == {A100, T4}
    assert {line.node_class for line in of_team("see")} == {A100}
