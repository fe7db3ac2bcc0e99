from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.breakers.ejections import ejection_percent, ejections


def test_a8_the_only_replica_is_never_out_and_of_two_at_most_one() -> None:
    assert [ejections(n) for n in (0, 1, 2, 3, 4, 7)] == [0, 0, 1, 1, 2, 3]


@given(st.integers(0, 99))
def test_a8_envoys_percentage_lets_exactly_so_many_go(n: int) -> None:
    percent, out = ejection_percent(n), 0
    while n and 100.0 * out / n < percent:  # what Envoy's detector asks before each ejection
        out += 1

    assert out == ejections(n)
