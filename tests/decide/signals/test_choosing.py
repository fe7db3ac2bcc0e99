"""Which source is believed, signal by signal, and what it means for the classes it left out."""

import msgspec

from controlplane.decide.signals.choosing import (
    BYPASSED,
    Chosen,
    PassedOver,
    Sourced,
    choose,
)
from controlplane.decide.signals.gathering import class_of, gathered
from controlplane.domain.load import ClassLoad, ModelLoad, silent
from controlplane.domain.priorities import Priority
from controlplane.domain.samples import IDLE, NOT_YET, Absence, NoData, Sample, Stale, Value, Zero
from controlplane.domain.sources import SignalName, SignalsPolicy, SourceName
from tests.builders import CHAT, NOW, a_class_load, a_load, a_policy

DOWN = NoData(Absence.UNREACHABLE, "down")
POLICY = SignalsPolicy()


def gateway(queue: float | Sample = 3.0) -> ModelLoad:
    return msgspec.structs.replace(
        a_load(a_class_load(queue=queue, arrivals=5.0)), kv_usage=NOT_YET
    )


def engines(queue: float | Sample = 7.0) -> ModelLoad:
    of = a_class_load(queue=queue, arrivals=6.0, latency=0.4)
    return ModelLoad(
        model=CHAT,
        at=NOW,
        classes={Priority.HIGH: of},
        kv_usage=Value(0.5, NOW),
        in_flight=Value(4.0, NOW),
    )


def put_together(loads: dict[SourceName, ModelLoad], policy: SignalsPolicy = POLICY) -> Sourced:
    return choose(CHAT, loads, policy, NOW)


def of(sourced: Sourced, signal: SignalName) -> Chosen:
    return next(one for one in sourced.chosen if one.signal == signal)


def test_the_first_source_that_knows_wins_signal_by_signal() -> None:
    found = put_together({"gateway": gateway(), "engines": engines()})

    assert of(found, "queue").source == "gateway"
    assert of(found, "kv_usage").source == "engines"
    assert of(found, "kv_usage").passed_over == (PassedOver("gateway", NOT_YET),)
    assert found.load.classes[Priority.HIGH].queue == Value(3.0, NOW)


def test_a_source_that_lost_one_class_is_passed_over_for_the_signal() -> None:
    found = put_together({"gateway": gateway(DOWN), "engines": engines()})

    assert of(found, "queue").source == "engines"
    assert of(found, "queue").passed_over == (PassedOver("gateway", DOWN),)
    assert of(found, "arrivals").source == "gateway"


def test_classes_a_source_does_not_know_are_none_of_its_total() -> None:
    found = put_together({"engines": engines()})

    assert found.load.classes[Priority.HIGH].queue == Value(7.0, NOW)
    assert found.load.classes[Priority.LOW].queue == Zero(NOW)
    assert found.load.classes[Priority.LOW].latency_p99 == IDLE
    assert found.load.unclassed
    assert not put_together({"gateway": gateway(), "engines": engines()}).load.unclassed


def test_a_stale_sample_does_not_win_and_says_its_age() -> None:
    old = a_load(a_class_load(queue=3.0, at=NOW - 90), at=NOW - 90)
    found = put_together({"gateway": old, "engines": engines()})

    assert of(found, "queue").source == "engines"
    assert of(found, "queue").passed_over == (PassedOver("gateway", Stale(90.0)),)


def test_s9_where_all_are_stale_the_signal_is_stale() -> None:
    old = a_load(a_class_load(queue=3.0, at=NOW - 90), at=NOW - 90)
    found = put_together({"gateway": old})

    assert found.load.classes[Priority.HIGH].queue == Stale(90.0)
    assert of(found, "queue").source == ""


def test_a_percentile_of_no_requests_is_an_answer() -> None:
    found = put_together({"gateway": gateway(), "engines": engines()})

    assert of(found, "latency_p99").source == "gateway"


def test_the_order_is_a_setting_for_all_signals_or_for_one() -> None:
    policy = SignalsPolicy(order=("engines", "gateway"), orders={"arrivals": ("gateway",)})
    found = put_together({"gateway": gateway(), "engines": engines()}, policy)

    assert of(found, "queue").source == "engines"
    assert of(found, "arrivals").source == "gateway"


def test_s10_with_no_source_at_all_nothing_is_made_up() -> None:
    found = put_together({})

    assert all(found.load.classes[p].queue == NOT_YET for p in Priority)


def test_half_of_the_replicas_speak_for_all_and_fewer_do_not() -> None:
    missing = NoData(Absence.EMPTY)

    assert gathered([Value(4.0, NOW), Value(2.0, NOW), missing], 3) == Value(9.0, NOW)
    assert isinstance(gathered([Value(4.0, NOW), missing, missing], 3), NoData)
    assert gathered([missing, missing], 2) == missing
    assert gathered([Stale(70.0), Stale(90.0)], 2) == Stale(70.0)


def test_the_class_that_stands_for_all_is_the_strictest_promise() -> None:
    assert class_of(a_policy()) is Priority.HIGH
    assert ClassLoad().queue == NOT_YET


def test_a_gateway_that_sees_nothing_of_busy_engines_is_not_believed() -> None:
    idle = msgspec.structs.replace(a_load(), in_flight=Zero(NOW))
    found = put_together({"gateway": idle, "engines": engines()})

    assert of(found, "queue").source == "engines"
    assert of(found, "queue").passed_over == (PassedOver("gateway", BYPASSED),)


def test_a_gateway_that_sees_nothing_of_idle_engines_is_believed() -> None:
    idle = msgspec.structs.replace(a_load(), in_flight=Zero(NOW))
    resting = msgspec.structs.replace(engines(0.0), in_flight=Zero(NOW))

    assert of(put_together({"gateway": idle, "engines": resting}), "queue").source == "gateway"


def test_the_health_of_devices_is_a_signal_like_any_other_and_need_not_be_known() -> None:
    exporters = msgspec.structs.replace(silent(CHAT, NOW), device_health=Value(0.75, NOW))
    found = put_together({"gateway": gateway(), "prometheus": exporters})
    without = put_together({"gateway": gateway(), "engines": engines()})

    assert (of(found, "device_health").source, found.load.device_health.x) == ("prometheus", 0.75)
    assert of(without, "device_health").sample == NoData(Absence.NOT_EXPORTED)
