"""What holds after every call, whatever the calls: law 9, work conservation, bounds, order."""

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from controlplane.decide.admission.admission import Admission
from controlplane.decide.admission.capacity import LENT, SERVING, Pool
from controlplane.decide.admission.verdicts import Ticket
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import PRIORITIES, Priority

RANKS = st.sampled_from([0, 1, 2])


@st.composite
def policies(draw: st.DrawFn) -> AdmissionPolicy:
    share = st.sampled_from([0.0, 0.0, 0.2, 0.4])
    return AdmissionPolicy(
        limits=draw(st.sampled_from(["scaled", "scaled", "fixed"])),
        fixed_limits={p: draw(st.integers(0, 4)) for p in PRIORITIES},
        queue_bounds={p: draw(st.integers(0, 6)) for p in PRIORITIES},
        reserve=draw(st.integers(0, 2)),
        guarantee={p: draw(share) for p in PRIORITIES},
        minimum_service_s=draw(st.sampled_from([None, 15.0])),
        ageing_s=draw(st.sampled_from([None, 15.0])),
        max_wait_s=draw(st.sampled_from([{}, {Priority.LOW: 20.0, Priority.HIGH: 5.0}])),
        single_queue=draw(st.booleans()) and draw(st.booleans()),
    )


class Calls(RuleBasedStateMachine):
    """Offers, ends, departures, capacity changes and time, in any order."""

    @initialize(policy=policies(), replicas=st.integers(0, 3), per=st.integers(1, 4))
    def begin(self, policy: AdmissionPolicy, replicas: int, per: int) -> None:
        self.policy = policy
        self.now = 0.0
        self.door: Admission[int] = Admission(policy)
        self.waiting: list[Ticket[int]] = []
        self.running: list[tuple[int, int, Pool]] = []  # rank, weight, pool
        self.started: list[tuple[int, float]] = []  # rank, arrived
        self.number = 0
        self.per = per
        self.took = 0  # slots that capacity took while they were busy
        self.grow(replicas, 0)

    def hand_over(self, tickets: object) -> None:
        for ticket in list(tickets):  # type: ignore[call-overload]  # a sequence of tickets
            self.waiting.remove(ticket)
            earlier = [t for t in self.waiting if t.rank == ticket.rank]
            assert all(t.arrived >= ticket.arrived for t in earlier), "first come, first served"
            self.running.append((ticket.rank, ticket.weight, ticket.pool))

    @rule(rank=RANKS, weight=st.sampled_from([1, 1, 1, 1, 2]))
    def arrive(self, rank: int, weight: int) -> None:
        self.number += 1
        offered = self.door.offer(self.now, self.number, rank, weight)
        if isinstance(offered, Ticket):
            self.waiting.append(offered)
        elif offered.admitted:
            self.running.append((rank, weight, offered.pool))

    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        if self.running:
            rank, weight, pool = self.running.pop(data.draw(st.integers(0, len(self.running) - 1)))
            self.hand_over(self.door.release(self.now, rank, weight, pool))

    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        if self.waiting:
            ticket = self.waiting.pop(data.draw(st.integers(0, len(self.waiting) - 1)))
            self.hand_over(self.door.leave(self.now, ticket))

    @rule(seconds=st.sampled_from([0.1, 3.0, 15.0]))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        for ticket in self.door.expire(self.now):
            self.waiting.remove(ticket)
            assert self.door.refusal(ticket).status in (429, 503)
        self.hand_over(self.door.poll(self.now))

    @rule(replicas=st.integers(0, 3), lent=st.integers(0, 2))
    def grow(self, replicas: int, lent: int) -> None:
        slots = replicas * self.per
        self.hand_over(self.door.capacity(self.now, ready=replicas, slots=slots, lent=lent))

    @rule(on=st.booleans())
    def hold(self, on: bool) -> None:
        self.hand_over(self.door.hold(self.now, on=on))

    @invariant()
    def no_slot_leaks(self) -> None:
        if not hasattr(self, "door"):
            return
        held = {pool: sum(w for _, w, p in self.running if p is pool) for pool in (SERVING, LENT)}
        assert self.door.free == self.door.slots - held[SERVING]
        assert self.door.lent_free == self.door.lent - held[LENT]
        by_rank = [sum(w for r, w, _ in self.running if r == k) for k in range(3)]
        assert self.door.in_flight == by_rank
        assert self.door.waiting == len(self.waiting)
        assert list(self.door.queued) == [sum(t.rank == k for t in self.waiting) for k in range(3)]

    @invariant()
    def bounds_hold(self) -> None:
        if hasattr(self, "door") and not self.policy.single_queue:
            bounds = [self.policy.queue_bounds[p] for p in PRIORITIES]
            assert all(q <= b for q, b in zip(self.door.queued, bounds, strict=True))

    @invariant()
    def no_slot_idles_beside_one_who_may_have_it(self) -> None:
        """Work-conserving, but for hold, caps, weights and low's reserve."""
        if not hasattr(self, "door") or self.door.held or self.policy.limits == "fixed":
            return
        if any(t.weight > 1 for t in self.waiting) or self.door.free <= 0:
            return
        kept = 0 if self.policy.single_queue else self.door._reserve
        for ticket in self.waiting:
            assert ticket.rank == 2, "only low may wait while a slot is free"
            assert self.door.free <= kept, "and only behind the reserve"

    @invariant()
    def only_low_runs_on_lent_slots(self) -> None:
        if hasattr(self, "door"):
            assert all(rank == 2 for rank, _, pool in self.running if pool is LENT)


TestCalls = Calls.TestCase
TestCalls.settings = settings(max_examples=80, stateful_step_count=30, deadline=None)


@given(
    st.lists(st.tuples(st.floats(0.001, 2.0), RANKS), max_size=60),
    st.integers(1, 5),
)
def test_when_everything_has_ended_every_counter_is_back_at_zero(
    requests: list[tuple[float, int]], slots: int
) -> None:
    door: Admission[int] = Admission(AdmissionPolicy(reserve=0))
    door.capacity(0.0, ready=1, slots=slots)
    running: list[int] = []
    now = 0.0
    for gap, rank in requests:
        now += gap
        offered = door.offer(now, 0, rank)
        if not isinstance(offered, Ticket) and offered.admitted:
            running.append(rank)
        assert sum(door.in_flight) <= slots
    while running:
        now += 1.0
        running += [t.rank for t in door.release(now, running.pop(0))]

    assert (door.free, door.in_flight, door.waiting) == (slots, [0, 0, 0], 0)
