"""The rules of the lease: who may take it, how long it is held, what a frozen process finds."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.adapters.kubernetes.tenure import LeaseRecord, LeaseTimes, Tenure

TIMES = LeaseTimes()
AT = "2026-01-01T00:00:00.000000Z"


def held_by(identity: str, renewed: str = AT, **more: int) -> LeaseRecord:
    given_: dict[str, int] = {"lease_duration_seconds": 15, "lease_transitions": 0, **more}
    return LeaseRecord(
        holder_identity=identity, renew_time=renewed, acquire_time=AT,
        lease_duration_seconds=given_["lease_duration_seconds"],
        lease_transitions=given_["lease_transitions"],
    )  # fmt: skip


def a_leader(asked: float = 100.0) -> Tenure:
    tenure = Tenure("a", TIMES)
    tenure.won(tenure.wanted(AT), asked, asked + 0.01)
    return tenure


def test_the_times_are_those_of_kubernetes_own_controllers() -> None:
    assert (TIMES.duration_s, TIMES.renew_deadline_s, TIMES.retry_s) == (15.0, 10.0, 2.0)


@pytest.mark.parametrize("times", [(10.0, 10.0, 2.0), (15.0, 2.4, 2.0), (15.0, 10.0, 0.5)])
def test_times_with_which_two_could_lead_are_refused_with_their_values(
    times: tuple[float, float, float],
) -> None:
    duration, deadline, retry = times

    with pytest.raises(ValueError, match=f"renew deadline {deadline} s, retry {retry} s"):
        LeaseTimes(duration_s=duration, renew_deadline_s=deadline, retry_s=retry)


def test_t4_who_was_frozen_past_the_deadline_leads_no_longer_the_moment_it_wakes() -> None:
    tenure = a_leader(asked=100.0)

    assert tenure.leading(109.999)
    assert not tenure.leading(110.0)
    assert not tenure.leading(130.0)
    assert tenure.holder(130.0) == ""


def test_the_deadline_counts_from_when_the_renewal_was_asked_for() -> None:
    tenure = a_leader()
    tenure.won(tenure.wanted(AT), 104.0, 109.0)  # the answer took five seconds

    assert tenure.leading(113.9)
    assert not tenure.leading(114.1)


def test_a_lease_is_left_alone_for_its_duration_after_it_was_seen_to_change() -> None:
    tenure = Tenure("b", TIMES)
    tenure.saw(held_by("a"), 50.0)
    tenure.saw(held_by("a"), 64.0)  # unchanged: no sign of life

    assert not tenure.free(64.9)
    assert tenure.holder(64.9) == "a"
    assert tenure.free(65.0)
    assert tenure.holder(65.0) == ""


def test_the_time_of_day_in_a_lease_decides_nothing() -> None:
    tenure = Tenure("b", TIMES)
    tenure.saw(held_by("a", "1999-01-01T00:00:00.000000Z"), 50.0)
    assert not tenure.free(60.0)

    tenure.saw(held_by("a", "1999-01-01T00:00:02.000000Z"), 64.0)
    assert not tenure.free(78.0)


def test_the_holder_says_how_long_it_is_left_alone() -> None:
    tenure = Tenure("b", TIMES)
    tenure.saw(held_by("a", lease_duration_seconds=60), 50.0)

    assert not tenure.free(109.0)
    assert tenure.free(110.0)


def test_a_released_lease_is_free_at_once_and_the_change_is_counted() -> None:
    old, new = a_leader(100.0), Tenure("b", TIMES)
    released = old.given_up()
    assert released is not None
    assert not old.leading(100.1)

    new.saw(released, 7.0)
    assert new.free(7.0)
    mine = new.wanted("2026-01-01T00:00:09.000000Z")

    assert mine == LeaseRecord(
        holder_identity="b",
        lease_duration_seconds=15,
        acquire_time="2026-01-01T00:00:09.000000Z",
        renew_time="2026-01-01T00:00:09.000000Z",
        lease_transitions=1,
    )


def test_a_renewal_keeps_when_it_was_acquired_and_counts_no_change() -> None:
    tenure = a_leader()

    again = tenure.wanted("2026-01-01T00:00:02.000000Z")

    assert (again.acquire_time, again.lease_transitions) == (AT, 0)
    assert again.renew_time == "2026-01-01T00:00:02.000000Z"


def test_who_sees_another_name_on_the_lease_stops_leading_before_its_deadline() -> None:
    tenure = a_leader(asked=100.0)

    tenure.saw(held_by("b"), 101.0)

    assert not tenure.leading(101.0)
    assert tenure.holder(101.0) == "b"
    assert tenure.given_up() is None


def test_a_new_reign_has_a_new_number_and_a_renewal_has_not() -> None:
    tenure = a_leader(asked=100.0)
    tenure.won(tenure.wanted(AT), 102.0, 102.0)
    assert tenure.term == 1

    tenure.won(tenure.wanted(AT), 130.0, 130.0)  # it slept, nobody else wanted the lease

    assert tenure.term == 2


class Shared:
    """A lease that is written only by who knows its version, as the API server has it."""

    def __init__(self) -> None:
        self.record, self.version = LeaseRecord(), 0

    def write(self, record: LeaseRecord, version: int) -> bool:
        if version != self.version:
            return False
        self.record, self.version = record, version + 1
        return True


class Candidate:
    """Looks, writes and hears the answer in three steps; between them anything may happen."""

    def __init__(self, name: str, zero: float) -> None:
        self.tenure, self._zero = Tenure(name, TIMES), zero
        self._known = 0
        self._begun: tuple[LeaseRecord, float] | None = None  # what it writes, and asked when
        self._sent: tuple[LeaseRecord, float, bool] | None = None  # and whether it was taken

    def leads(self, now: float) -> bool:
        return self.tenure.leading(now + self._zero)

    def step(self, lease: Shared, now: float, *, lost: bool, gives_up: bool) -> None:
        here = now + self._zero
        if self._sent is not None:
            (wanted, asked, taken), self._sent = self._sent, None
            if taken and not lost:
                self._known += 1
                self.tenure.won(wanted, asked, here)
            released = self.tenure.given_up() if gives_up else None
            if released is not None:
                lease.write(released, self._known)
        elif self._begun is not None:
            (wanted, asked), self._begun = self._begun, None
            self._sent = wanted, asked, lease.write(wanted, self._known)
        else:
            self._known = lease.version
            self.tenure.saw(lease.record, here)
            if self.tenure.free(here):
                self._begun = self.tenure.wanted(f"{now}"), here


STEP = st.tuples(
    st.integers(0, 2),  # who
    st.sampled_from([1, 3]),  # takes one step, or all three at once
    st.sampled_from([0.0, 0.0, 0.0, 0.3, 2.0, 5.0, 8.5, 9.5, 14.9, 15.0, 30.0]),  # time passed
    st.integers(0, 9).map(lambda x: x == 0),  # whether the answer to its write is lost
    st.integers(0, 9).map(lambda x: x == 0),  # whether it gives up
)


@settings(max_examples=200)
@given(st.lists(STEP, min_size=6, max_size=40))
def test_law_6_two_never_lead_at_once_whoever_freezes_and_whatever_is_lost(
    steps: list[tuple[int, int, float, bool, bool]],
) -> None:
    candidates = [Candidate("a", 0.0), Candidate("b", 1_000.0), Candidate("c", -500.0)]
    lease, now = Shared(), 0.0
    for who, times, passed_s, lost, gives_up in steps:
        now += passed_s
        for _ in range(times):
            candidates[who].step(lease, now, lost=lost, gives_up=gives_up)
        leaders = [one.tenure.identity for one in candidates if one.leads(now)]
        assert len(leaders) <= 1
        assert not leaders or lease.record.holder_identity == leaders[0]


def test_a_record_is_written_in_kubernetes_words() -> None:
    assert msgspec.to_builtins(held_by("a")) == {
        "holderIdentity": "a",
        "leaseDurationSeconds": 15,
        "acquireTime": AT,
        "renewTime": AT,
        "leaseTransitions": 0,
    }
