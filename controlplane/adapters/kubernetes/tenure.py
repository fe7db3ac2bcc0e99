"""When a lease may be taken and how long it is held: the rules alone, without a clock or a wire.

Whoever holds the lease writes for `renew_deadline_s` from the moment it *asked* for the last
renewal that succeeded; everybody else waits `duration_s` from the moment they *saw* that renewal,
which is later. Each side measures by its own monotonic clock, so clocks need not agree, and a
process that was frozen finds on waking that its time is over: whether it leads is computed, never
remembered.
"""

from math import ceil

import msgspec


class LeaseTimes(msgspec.Struct, frozen=True, kw_only=True):
    """The three times of an election, as Kubernetes' own controllers have them."""

    duration_s: float = 15.0  # how long others leave a lease alone that is not renewed
    renew_deadline_s: float = 10.0  # how long the holder writes without a renewal
    retry_s: float = 2.0  # how often the lease is renewed, or looked at

    def __post_init__(self) -> None:
        """Refuse times with which two could lead at once, or nobody for long."""
        if not self.duration_s > self.renew_deadline_s > 1.2 * self.retry_s or self.retry_s < 1.0:
            raise ValueError(
                f"lease: duration {self.duration_s} s, renew deadline {self.renew_deadline_s} s, "
                f"retry {self.retry_s} s: duration must be above the renew deadline, that above "
                "1.2 x retry, and retry at least 1 s"
            )


class LeaseRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A lease's spec as the API server has it; what is absent was never set."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class Tenure:
    """What one candidate knows of the lease. Times are readings of its own monotonic clock."""

    def __init__(self, identity: str, times: LeaseTimes) -> None:
        """Hold nothing and know nothing."""
        self.identity = identity
        self.times = times
        self.term = 0
        self._seen: LeaseRecord | None = None
        self._seen_at = 0.0
        self._renewed_at: float | None = None  # when the renewal that succeeded was asked for

    def leading(self, now: float) -> bool:
        """Say whether this candidate may write at this moment."""
        return self._renewed_at is not None and now - self._renewed_at < self.times.renew_deadline_s

    def holder(self, now: float) -> str:
        """Name who holds the lease, as far as is known; empty where it is free or ran out."""
        if self.leading(now):
            return self.identity
        seen = self._seen
        if seen is None or self.free(now) or seen.holder_identity == self.identity:
            return ""
        return seen.holder_identity or ""

    def saw(self, record: LeaseRecord, now: float) -> None:
        """Take note of the lease; one that changed is somebody's sign of life, now."""
        if record != self._seen:
            self._seen, self._seen_at = record, now
        if record.holder_identity != self.identity:
            self._renewed_at = None

    def gone(self) -> None:
        """Take note that there is no lease: it is to be made, as the first of its kind."""
        self._seen = None

    def free(self, now: float) -> bool:
        """Say whether this candidate may take or renew the lease that it saw last."""
        seen = self._seen
        if seen is None or not seen.holder_identity or seen.holder_identity == self.identity:
            return True
        left_alone_s = seen.lease_duration_seconds or self.times.duration_s
        return now - self._seen_at >= left_alone_s

    def wanted(self, at: str) -> LeaseRecord:
        """Give the lease as this candidate would write it; `at` is the time of day."""
        seen = self._seen or LeaseRecord()
        transitions = seen.lease_transitions or 0
        mine = seen.holder_identity == self.identity
        return LeaseRecord(
            holder_identity=self.identity,
            lease_duration_seconds=ceil(self.times.duration_s),
            acquire_time=seen.acquire_time if mine else at,
            renew_time=at,
            lease_transitions=transitions if mine or self._seen is None else transitions + 1,
        )

    def won(self, record: LeaseRecord, asked: float, now: float) -> None:
        """Take note that the lease stands as this candidate wrote it."""
        if not self.leading(now):
            self.term += 1  # somebody may have led in between
        self._seen, self._seen_at, self._renewed_at = record, now, asked

    def given_up(self) -> LeaseRecord | None:
        """Stop leading, at once; give the lease to be written so that others need not wait."""
        held = self._seen if self._renewed_at is not None else None
        self._renewed_at = None
        if held is None or held.holder_identity != self.identity:
            return None
        return msgspec.structs.replace(held, holder_identity="", lease_duration_seconds=1)
