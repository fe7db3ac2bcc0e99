"""`survive_zone`: the rest holds when the fullest zone is lost, and the price of that is said."""

from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.scaling.decision import decide_scale
from controlplane.decide.scaling.inputs import ScaleInput
from controlplane.decide.zones.survive import surviving, zones_for
from controlplane.domain.fleet import Node
from controlplane.domain.quantities import ClassName, NodeName, Zone
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.domain.samples import Absence, NoData
from tests.builders import A100, T4, a_class_load, a_load, a_policy, an_input, facts


@given(need=st.integers(0, 500), zones=st.integers(2, 9))
def test_what_is_left_without_the_fullest_zone_suffices_and_one_fewer_would_not(
    need: int, zones: int
) -> None:
    def left(replicas: int) -> int:
        return replicas - -(-replicas // zones)

    wanted = surviving(need, zones)

    assert left(wanted) >= need
    assert wanted == 0 or left(wanted - 1) < need


def test_in_one_zone_nothing_survives_and_nothing_is_added() -> None:
    assert surviving(4, 1) == 4


def test_zones_count_where_the_model_may_run_also_while_they_are_lost() -> None:
    nodes = [
        _node("a", A100, "zone-a"),
        _node("b", A100, "zone-b", ready=False),
        _node("c", T4, "zone-c"),
    ]

    assert zones_for(nodes, {A100}) == 2
    assert zones_for(NoData(Absence.FORBIDDEN), {A100}) == 0


def test_a_calm_model_rises_to_what_outlives_a_zone_and_says_the_price() -> None:
    # 200/s x 0.125 s = 25 busy slots; at most 0.85 of 14 a replica: 3 suffice, 5 outlive a zone.
    choice = decide_scale(_input(200.0, target=3, zones=3))

    assert choice.target == 5
    assert choice.decisive is ReasonCode.SURVIVES_ZONE
    assert choice.trail[-1].evidence == (
        Evidence("zones", 3),
        Evidence("margin", 2, None, "replicas"),
        Evidence("price", 6.0, None, "/h"),  # two at 3.00
    )


def test_the_margin_is_not_put_on_top_of_itself() -> None:
    choice = decide_scale(_input(200.0, target=5, zones=3))

    assert choice.target == 5
    assert choice.actions == ()
    assert choice.trail[-1].code is ReasonCode.SURVIVES_ZONE


def test_a_rise_is_widened_to_outlive_a_zone() -> None:
    # 500/s = 62.5 busy slots: 6 suffice, 9 outlive one of three zones.
    choice = decide_scale(_input(500.0, target=5, zones=3))

    assert choice.target == 7  # two more cold at a time, the rest in the next step
    assert (ReasonCode.SURVIVES_ZONE, 9) in {(said.code, said.after) for said in choice.trail}


def test_a_fall_stops_at_what_outlives_a_zone() -> None:
    choice = decide_scale(_input(40.0, target=8, zones=3))  # 5 busy slots: 1 suffices, 2 outlive

    assert choice.target == 2
    assert choice.decisive is ReasonCode.SURVIVES_ZONE


def test_where_no_zone_is_to_be_outlived_nothing_is_said_about_it_not_even_at_rest() -> None:
    codes = {said.code for said in decide_scale(_input(0.0, target=3, zones=0)).trail}

    assert ReasonCode.FEWER_SUFFICE in codes
    assert ReasonCode.SURVIVES_ZONE not in codes


def test_without_the_policy_no_margin_is_kept() -> None:
    seen = _input(200.0, target=3, zones=0)

    assert decide_scale(seen).target == 3


def _input(rate: float, *, target: int, zones: int) -> ScaleInput:
    load = a_load(a_class_load(rate, wait=0.001), kv=None)
    policy = a_policy(min=1, max=12, survive_zone=zones > 0, watermark=None, stabilisation_s=0)
    return an_input(load, target=target, policy=policy, zones=zones, variants=(facts(hourly=3.0),))


def _node(name: str, of_class: ClassName, zone: str, *, ready: bool = True) -> Node:
    return Node(name=NodeName(name), node_class=of_class, zone=Zone(zone), devices=8, ready=ready)
