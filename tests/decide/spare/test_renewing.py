"""A changed template is rolled out by the Deployment; lanes see to it that service never dips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.domain.actions import SetLane, SetReplicas
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.replicas import Lane, Replica
from controlplane.domain.samples import Value
from tests.builders import NOW, a_replica
from tests.decide.spare.test_lanes import codes, decide, flip, size


def old(name: str, lane: Lane = Lane.SERVING, busy: float = 0.0) -> Replica:
    return a_replica(name, lane, outdated=True, in_flight=Value(busy, NOW))


def test_a_new_one_takes_the_place_of_the_least_busy_old_one_which_drains() -> None:
    new = a_replica("new", Lane.WARM)

    choice = decide(old("a", busy=3.0), old("b", busy=1.0), new, target=2)

    assert choice.actions[:2] == (flip("new", Lane.SERVING), flip("b", Lane.DRAINING))
    assert codes(choice)[:2] == [ReasonCode.PROMOTED, ReasonCode.ROTATED]


def test_the_one_too_many_of_a_rollout_is_not_cancelled_while_it_loads() -> None:
    coming = a_replica("new", Lane.LOADING)

    choice = decide(old("a"), old("b"), coming, target=2)

    assert choice.actions == ()


def test_an_old_spare_is_the_one_too_many() -> None:
    choice = decide(
        old("a"), old("w", Lane.WARM), a_replica("new", Lane.LOADING), target=1, count=1
    )

    assert choice.actions == (size(2, "w"),)


def test_of_two_spares_the_one_of_the_current_template_is_promoted() -> None:
    choice = decide(old("w", Lane.WARM), a_replica("new", Lane.WARM), target=1, count=1)

    assert choice.actions == (flip("new", Lane.SERVING),)


def test_where_fewer_are_wanted_the_old_ones_leave_first() -> None:
    choice = decide(a_replica("new"), old("a", busy=2.0), target=1)

    assert choice.actions == (flip("a", Lane.DRAINING),)


@given(
    st.lists(st.tuples(st.sampled_from(list(Lane)), st.booleans()), min_size=1, max_size=6),
    st.integers(0, 4),
    st.integers(0, 2),
)
def test_a_rollout_never_takes_one_out_of_service_before_another_is_in(
    fleet: list[tuple[Lane, bool]], target: int, spares: int
) -> None:
    replicas = [
        a_replica(f"r{n}", lane, outdated=outdated) for n, (lane, outdated) in enumerate(fleet)
    ]
    serving = {r.name for r in replicas if r.serving}
    least = min(len(serving), target)

    choice = decide(*replicas, target=target, count=spares)

    for action in choice.actions:
        if isinstance(action, SetLane):
            serving.discard(action.replica)
            if action.lane is Lane.SERVING:
                serving.add(action.replica)
        if isinstance(action, SetReplicas):
            assert not serving & set(action.victims)
        assert len(serving) >= least


@pytest.mark.parametrize("not_yet", [{"ready": False}, {"healthy": False}])
def test_who_would_get_no_request_or_answer_none_is_not_promoted_before_others(
    not_yet: dict[str, bool],
) -> None:
    silent = a_replica("a", Lane.WARM, created_at=0.0, **not_yet)

    choice = decide(silent, a_replica("b", Lane.WARM), target=1, count=1)

    assert choice.actions == (flip("b", Lane.SERVING),)
