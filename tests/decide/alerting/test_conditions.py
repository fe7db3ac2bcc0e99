"""What is worth a person: each condition, how long it must hold, and when it is over."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from controlplane.decide.alerting.conditions import AlertsSeen, Since, alerts
from controlplane.domain.alerts import Alert, AlertName
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Standing
from controlplane.domain.fleet import FleetView
from controlplane.domain.quantities import Micros
from controlplane.domain.samples import Absence, NoData
from tests.builders import A100, CHAT, NOW, a_catalogue, a_class_load, a_load, a_model, a_replica

FLEET = a_catalogue()
DOWN = NoData(Absence.UNREACHABLE, "http://prometheus:9090 did not answer within 3 s")


def a_look(at: float = NOW, **more: Any) -> AlertsSeen:
    given = {
        "loads": {CHAT: a_load(at=at)},
        "view": FleetView(at=at, nodes=(), replicas=()),
        **more,
    }
    return AlertsSeen(at=at, **given)


def told(looks: list[AlertsSeen], fleet: Catalogue = FLEET) -> list[tuple[Alert, ...]]:
    since: Since = {}
    found = []
    for look in looks:
        now, since = alerts(look, fleet, since)
        found.append(now)
    return found


def silent(at: float) -> AlertsSeen:
    return a_look(at, loads={CHAT: a_load(a_class_load(queue=DOWN), at=at)})


def test_s1_no_data_is_told_after_its_limit_and_not_before() -> None:
    early, late = told([silent(NOW), silent(NOW + 299), silent(NOW + 300)])[1:]

    assert early == ()
    assert [one.key.name for one in late] == [AlertName.NO_DATA]
    assert late[0].summary == (
        "the queue of chat is not known: Unreachable: http://prometheus:9090 did not answer "
        "within 3 s; it is not scaled down meanwhile"
    )
    assert late[0].since == NOW


def test_data_that_comes_back_ends_it_and_the_time_begins_anew() -> None:
    looks = [silent(NOW), silent(NOW + 400), a_look(NOW + 405), silent(NOW + 410)]

    assert [len(found) for found in told(looks)] == [0, 1, 0, 0]


def test_a_model_no_source_speaks_of_is_told() -> None:
    looks = [a_look(at, loads={}) for at in (NOW, NOW + 400)]

    assert "no source knows it" in told(looks)[1][0].summary


def test_a_class_that_is_short_is_told_for_the_model_and_the_class() -> None:
    looks = [a_look(at, short={CHAT: {A100: NOW + 900}}) for at in (NOW, NOW + 60)]

    (found,) = told(looks)[1]
    assert (found.key.name, found.key.model, found.key.what) == (AlertName.CLASS_SHORT, CHAT, A100)


def test_a_class_whose_time_has_passed_is_short_no_more() -> None:
    assert told([a_look(at, short={CHAT: {A100: NOW - 1}}) for at in (NOW, NOW + 60)])[1] == ()


def test_a_target_that_is_not_reached_is_told_once_a_replica_would_have_loaded() -> None:
    plan = {CHAT: Standing(replicas=2, split={A100: 2}, since=NOW)}
    view = FleetView(at=NOW, nodes=(), replicas=(a_replica("r0"),))
    looks = [a_look(at, plan=plan, view=view) for at in (NOW, NOW + 500, NOW + 600)]

    early, late = told(looks)[1:]
    assert early == ()
    assert late[0].summary.startswith("chat has 1 of 2 replicas in service")
    assert late[0].severity == "warning"


def test_a_model_with_nobody_in_service_is_critical() -> None:
    plan = {CHAT: Standing(replicas=2, split={A100: 2}, since=NOW)}

    assert told([a_look(at, plan=plan) for at in (NOW, NOW + 600)])[1][0].severity == "critical"


def test_an_open_breaker_is_told() -> None:
    looks = [a_look(at, breakers={CHAT: "5 broken answers in a row"}) for at in (NOW, NOW + 60)]

    assert told(looks)[1][0].summary == "the breaker of chat is open: 5 broken answers in a row"


def test_a_budget_is_told_of_at_once_when_it_is_exceeded() -> None:
    fleet = a_catalogue({CHAT: replace(a_model(), budget_per_day=Decimal(100))})
    spent = [a_look(spent={CHAT: Micros(x)}) for x in (100_000_000, 100_500_000)]

    within, over = told(spent, fleet)
    assert within == ()
    assert over[0].summary == "chat cost 100.50 USD today, and its budget is 100 a day"


def test_a_percentile_of_nothing_is_no_fault() -> None:
    assert told([a_look(at) for at in (NOW, NOW + 9_999)])[1] == ()
