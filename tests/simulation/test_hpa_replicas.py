"""What the HPA wants for a metric, worked by hand from the algorithm as Kubernetes documents it."""

import pytest

from controlplane.simulation.peers.hpa_replicas import (
    PodGroup,
    PodReading,
    external_average,
    external_value,
    pods_average,
    within,
)


def pods(*busy: float, unready: int = 0, missing: int = 0, ignored: int = 0) -> list[PodReading]:
    return [
        *(PodReading(PodGroup.READY, value) for value in busy),
        *[PodReading(PodGroup.UNREADY)] * unready,
        *[PodReading(PodGroup.MISSING)] * missing,
        *[PodReading(PodGroup.IGNORED)] * ignored,
    ]


@pytest.mark.parametrize(
    ("readings", "current", "wanted"),
    [
        # mean 0.9 / 0.6 = 1.5; 1.5 x 4 = 6
        pytest.param(pods(0.9, 0.9, 0.8, 1.0), 4, 6, id="all ready, busy: rise"),
        # mean 0.2 / 0.6 = 0.333; 0.333 x 6 = 2
        pytest.param(pods(*[0.2] * 6), 6, 2, id="all ready, quiet: fall"),
        # 0.66 / 0.6 = 1.1: exactly the tolerance, which is inclusive
        pytest.param(pods(*[0.66] * 5), 5, 5, id="within the tolerance: hold"),
        # 1.5 > 1 with 2 pending at 0: 3.6 / 6 = 0.6 -> 1.0
        pytest.param(pods(*[0.9] * 4, unready=2), 6, 6, id="pending pods count as idle"),
        # 0.5 < 1: pending pods do not matter for a fall; 0.5 x 4 = 2
        pytest.param(pods(*[0.3] * 4, unready=2), 6, 2, id="pending pods do not hold a fall"),
        # 0.5 < 1, missing at target: (0.9 + 0.6) / 4 = 0.375 -> 0.625; x 4 = 2.5 -> 3
        pytest.param(pods(0.3, 0.3, 0.3, missing=1), 4, 3, id="missing pods dampen a fall"),
        # 1.5 > 1, missing at 0: 1.8 / 3 = 0.6 -> 1.0
        pytest.param(pods(0.9, 0.9, missing=1), 3, 3, id="missing pods dampen a rise"),
        # 1.5 > 1, missing at 0: 1.8 / 6 = 0.3 -> 0.5: direction flipped
        pytest.param(pods(0.9, 0.9, missing=4), 6, 6, id="a flipped direction holds"),
        # 1.5; missing: 4.5 / 6 = 0.75 -> 1.25; x 6 = 8 < 10 although it rises
        pytest.param(pods(*[0.9] * 5, missing=1), 10, 10, id="against its direction: hold"),
        # the deleted pod is left out: 0.9 / 0.6 x 2 = 3
        pytest.param(pods(0.9, 0.9, ignored=3), 2, 3, id="pods being deleted do not count"),
        pytest.param(pods(missing=2), 2, None, id="no metric at all: no proposal"),
    ],
)
def test_a_pods_metric_asks_for(
    readings: list[PodReading], current: int, wanted: int | None
) -> None:
    assert pods_average(readings, 0.6, current) == wanted


@pytest.mark.parametrize(
    ("usage", "target", "status", "wanted"),
    [
        pytest.param(42, 5, 4, 9, id="42 waiting, 5 a pod: 8.4 -> 9"),
        pytest.param(22, 5, 4, 4, id="22 / 20 = 1.1 is within"),
        pytest.param(11, 1, 10, 10, id="10 -> 11 is lost in the tolerance"),
        pytest.param(0, 5, 4, 0, id="an empty queue asks for none"),
        pytest.param(7, 5, 0, 2, id="no pods yet"),
    ],
)
def test_an_external_average_counts_all_pods(
    usage: float, target: float, status: int, wanted: int | None
) -> None:
    assert external_average(usage, target, status) == wanted


@pytest.mark.parametrize(
    ("usage", "target", "current", "ready", "wanted"),
    [
        pytest.param(90, 75, 4, 4, 5, id="90 % against 75 at 4 pods: 4.8 -> 5"),
        pytest.param(4, 3, 5, 3, 4, id="slow starters: 1.33 x 3 ready = 4, below the 5 there are"),
        pytest.param(80, 75, 4, 1, 4, id="1.067 is within"),
        pytest.param(7, 3, 0, 0, 3, id="from nothing: the ratio itself"),
    ],
)
def test_an_external_value_counts_ready_pods_only(
    usage: float, target: float, current: int, ready: int, wanted: int | None
) -> None:
    assert external_value(usage, target, current, ready) == wanted


@pytest.mark.parametrize(("ratio", "held"), [(0.9, True), (1.1, True), (0.899, False)])
def test_the_tolerance_is_inclusive_both_ways(ratio: float, held: bool) -> None:
    assert within(ratio) is held
