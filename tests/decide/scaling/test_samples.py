"""No data is not zero: what unknown, stale and confirmed-zero samples do to a target."""

from controlplane.domain.load import silent
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.samples import Absence, Bad, NoData, Stale
from tests.builders import CHAT, NOW, a_class_load, a_load, a_policy
from tests.decide.scaling.timeline import Timeline

EMPTY = NoData(Absence.EMPTY)
REFUSED = NoData(Absence.UNREACHABLE)
IDLE_LOAD = a_load()
TEN_MINUTES = 120  # cycles


def unknown(sample: object) -> object:
    same = a_class_load(sample, sample, turned_away=sample, wait=sample)  # type: ignore[arg-type]
    return a_load(same, same, same)


def test_s1_an_empty_answer_for_ten_minutes_moves_nothing() -> None:
    line = Timeline(6)

    assert line.cycle(unknown(EMPTY), TEN_MINUTES) == 6  # type: ignore[arg-type]
    assert ReasonCode.SIGNALS_UNKNOWN in line.codes


def test_s2_refused_connections_hold_and_a_confirmed_idle_window_then_falls() -> None:
    line = Timeline(5)

    assert line.cycle(unknown(REFUSED), 3) == 5  # type: ignore[arg-type]

    # The window is 120 s (load time 90 s + 30 s); at 90 % coverage it may fall after 108 s.
    assert line.cycle(IDLE_LOAD, 20) == 5
    assert ReasonCode.WINDOW_NOT_COVERED in line.codes or ReasonCode.STABILISING in line.codes
    assert line.cycle(IDLE_LOAD, 10) == 1


def test_s3_a_known_count_of_zero_with_undefined_percentiles_is_idle() -> None:
    line = Timeline(5)

    assert line.cycle(a_load(a_class_load(0, 0, wait=Bad("nan"))), 40) == 1


def test_s3_an_unreadable_count_with_undefined_percentiles_holds() -> None:
    line = Timeline(5)
    nothing = a_class_load(REFUSED, REFUSED, wait=Bad("nan"))

    assert line.cycle(a_load(nothing), 40) == 5


def test_s9_stale_samples_hold_like_missing_ones() -> None:
    line = Timeline(5)

    assert line.cycle(unknown(Stale(400.0)), 40) == 5  # type: ignore[arg-type]


def test_s10_the_floor_holds_without_any_data() -> None:
    line = Timeline(1, a_policy(min=3))

    assert line.cycle(silent(CHAT, NOW)) == 3
    assert line.codes[-1] == ReasonCode.BELOW_MINIMUM


def test_one_unknown_class_is_enough_to_hold() -> None:
    line = Timeline(5)
    load = a_load(a_class_load(1.0), a_class_load(1.0), a_class_load(EMPTY))

    assert line.cycle(load, 60) == 5


def test_s1_an_unknown_queue_holds_although_the_arrivals_are_known_to_be_none() -> None:
    line = Timeline(5)

    assert line.cycle(a_load(a_class_load(0.0, EMPTY)), 60) == 5
    assert ReasonCode.SIGNALS_UNKNOWN in line.codes


def test_an_unknown_signal_does_not_stop_a_known_one_from_raising() -> None:
    line = Timeline(2)
    load = a_load(a_class_load(40.0, 900.0, wait=EMPTY), kv=EMPTY, service_s=1.0)

    assert line.cycle(load) > 2


def test_a_gap_in_which_nobody_looked_does_not_count_as_covered() -> None:
    line = Timeline(5)
    line.cycle(a_load(a_class_load(350.0)), 30)
    line.now += 600.0  # the daemon was down

    assert line.cycle(IDLE_LOAD, 10) == line.serving
    assert ReasonCode.WINDOW_NOT_COVERED in line.codes
