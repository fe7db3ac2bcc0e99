from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.breakers.ejections import ejection_percent, ejection_s, ejections, flaps
from controlplane.domain.policies import BreakerPolicy


def test_a8_the_only_replica_is_never_out_and_of_two_at_most_one() -> None:
    assert [ejections(n) for n in (0, 1, 2, 3, 4, 7)] == [0, 0, 1, 1, 2, 3]


@given(st.integers(0, 99))
def test_a8_envoys_percentage_lets_exactly_so_many_go(n: int) -> None:
    percent, out = ejection_percent(n), 0
    while n and 100.0 * out / n < percent:  # what Envoy's detector asks before each ejection
        out += 1

    assert out == ejections(n)


def test_left_to_itself_a_replica_is_out_for_what_a_load_takes_and_never_flaps() -> None:
    assert [ejection_s(BreakerPolicy(), load_s) for load_s in (5.0, 60.0)] == [30.0, 60.0]
    assert not flaps(BreakerPolicy(), 600.0)


def test_an_ejection_shorter_than_a_load_flaps_unless_no_replica_is_ever_out() -> None:
    short = BreakerPolicy(ejection_s=20.0)

    assert ejection_s(short, 60.0) == 20.0
    assert flaps(short, 60.0)
    assert not flaps(short, 20.0)
    assert not flaps(BreakerPolicy(ejection_s=20.0, replica_failures=None), 60.0)
