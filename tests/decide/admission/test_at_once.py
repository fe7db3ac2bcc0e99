"""While nobody waits and slots enough are free, requests change nothing but the counts."""

from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.admission.admission import Admission
from controlplane.decide.admission.verdicts import ADMITTED, Ticket
from controlplane.domain.policies import AdmissionPolicy
from tests.decide.admission.test_laws import policies

RANKS = st.lists(st.sampled_from([0, 1, 2]), max_size=30)


@given(policies(), RANKS, st.sets(st.integers(0, 29)), st.integers(0, 3), st.integers(0, 2))
def test_what_is_told_afterwards_comes_to_what_asking_for_each_would(
    policy: AdmissionPolicy, ranks: list[int], ended: set[int], ready: int, lent: int
) -> None:
    asked, told = Admission[int](policy), Admission[int](policy)
    for door in (asked, told):
        door.capacity(0.0, ready=ready, slots=4 * ready, lent=lent)
    held = [0, 0, 0]
    for number, rank in enumerate(ranks):
        at_once = asked.at_once
        assert at_once is not None, "nobody waits"
        if asked.free <= at_once[rank]:
            break
        assert asked.offer(float(number), number, rank) is ADMITTED
        held[rank] += 1
        if number in ended:
            assert not asked.release(float(number), rank)
            held[rank] -= 1
    told.passed(held)

    assert (told.free, told.in_flight) == (asked.free, asked.in_flight)
    following = [[door.offer(40.0, n, n % 3) for n in range(20)] for door in (asked, told)]
    codes = [[verdict.code for verdict in verdicts] for verdicts in following]
    assert codes[0] == codes[1]


def test_while_anyone_waits_nobody_passes_unasked() -> None:
    door = Admission[str](AdmissionPolicy())
    assert isinstance(door.offer(0.0, "waits", 0), Ticket)

    assert door.at_once is None
