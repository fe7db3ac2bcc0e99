"""A model's breaker: closed, open, half-open with one probe; and isolated by hand.

    closed --failures in a row--> open --its time passes, one request asks--> half-open
       ^                            ^                                             |
       |                            '--------- the probe fails, twice the time ---|
       '---------------------------------------- the probe is answered -----------'

Pure: a breaker is a value, each function gives the next one and what was said. While it is open or
half-open only its probe counts, for whatever else ends now began before.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec

from controlplane.decide.breakers.answers import Meaning
from controlplane.domain.overrides import Isolation
from controlplane.domain.policies import BreakerPolicy
from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import Evidence, Reason, ReasonCode


class State(StrEnum):
    """Whether requests pass."""

    CLOSED = "closed"  # they do
    OPEN = "open"  # they are refused
    HALF_OPEN = "half-open"  # one is under way as a probe, the others are refused
    ISOLATED = "isolated"  # a person took the model out


class Breaker(msgspec.Struct, frozen=True, kw_only=True):
    """Where a model's breaker stands."""

    state: State = State.CLOSED
    since: Instant = 0.0
    failures: int = 0  # broken answers in a row, while closed
    opened: int = 0  # times it opened since it was closed last
    until: Instant = 0.0  # when it may be probed (open), or the probe is lost (half-open)

    @property
    def passing(self) -> bool:
        """Say whether requests pass."""
        return self.state is State.CLOSED


class Step(NamedTuple):
    """The breaker after something happened, and why it changed, if it did."""

    breaker: Breaker
    trail: tuple[Reason, ...] = ()


class Leave(NamedTuple):
    """Whether a request may go on."""

    breaker: Breaker
    allowed: bool
    probe: bool = False
    trail: tuple[Reason, ...] = ()


CLOSED = Breaker()


def heard(
    breaker: Breaker, now: Instant, meanings: Sequence[Meaning], policy: BreakerPolicy
) -> Step:
    """Count how requests ended, in order; open when too many in a row were broken."""
    if not breaker.passing or policy.failures is None:
        return Step(breaker)
    failures = breaker.failures
    for meant in meanings:
        if meant is Meaning.BROKEN:
            failures += 1
            if failures >= policy.failures:
                seen = Evidence("failures", failures, policy.failures)
                return _open(breaker, now, policy, Reason(ReasonCode.BREAKER_OPENED, 1, 0, (seen,)))
        elif meant is Meaning.WELL:
            failures = 0
    if failures == breaker.failures:
        return Step(breaker)
    return Step(msgspec.structs.replace(breaker, failures=failures))


def ask(breaker: Breaker, now: Instant, policy: BreakerPolicy) -> Leave:
    """Ask whether a request may go on; the one that finds the time up is the probe."""
    if breaker.passing:
        return Leave(breaker, allowed=True)
    if breaker.state is State.ISOLATED or now < breaker.until:
        return Leave(breaker, allowed=False)
    seen = Evidence("open", now - breaker.since, None, "s")
    after = msgspec.structs.replace(
        breaker, state=State.HALF_OPEN, since=now, until=now + policy.probe_s
    )
    reason = Reason(ReasonCode.BREAKER_PROBING, 0, 0, (seen,))
    return Leave(after, allowed=True, probe=True, trail=(reason,))


def probed(breaker: Breaker, now: Instant, meant: Meaning, policy: BreakerPolicy) -> Step:
    """Hear how the probe ended; one that says nothing makes room for another."""
    if breaker.state is not State.HALF_OPEN:
        return Step(breaker)
    if meant is Meaning.WELL:
        reason = Reason(ReasonCode.BREAKER_CLOSED, 0, 1)
        return Step(Breaker(since=now), (reason,))
    if meant is Meaning.NEITHER:
        return Step(msgspec.structs.replace(breaker, until=now))
    for_s = open_for(breaker.opened + 1, policy)
    reason = Reason(ReasonCode.BREAKER_REOPENED, 0, 0, (Evidence("open", None, for_s, "s"),))
    return _open(breaker, now, policy, reason)


def isolate(breaker: Breaker, now: Instant, isolation: Isolation) -> Step:
    """Take the model out of traffic by hand."""
    if breaker.state is State.ISOLATED:
        return Step(breaker)
    said = (Evidence("why", isolation.why),) if isolation.why else ()
    evidence = (Evidence("by", isolation.by), *said)
    reason = Reason(ReasonCode.ISOLATED, int(breaker.passing), 0, evidence)
    return Step(Breaker(state=State.ISOLATED, since=now), (reason,))


def rejoin(breaker: Breaker, now: Instant) -> Step:
    """End an isolation: the model begins with a clean sheet. Who ended it, the audit log knows."""
    if breaker.state is not State.ISOLATED:
        return Step(breaker)
    return Step(Breaker(since=now), (Reason(ReasonCode.REJOINED, 0, 1),))


def open_for(times: int, policy: BreakerPolicy) -> float:
    """Give how long it stays open the nth time in a row."""
    doubled: float = policy.open_s * 2.0 ** min(times - 1, 30)
    return max(policy.open_s, min(doubled, policy.open_limit_s))


def retry_after_s(breaker: Breaker, now: Instant, policy: BreakerPolicy) -> int:
    """Give after how many seconds asking again may help."""
    left = breaker.until - now if breaker.state is not State.ISOLATED else policy.open_s
    return max(1, int(left) + 1)


def _open(breaker: Breaker, now: Instant, policy: BreakerPolicy, reason: Reason) -> Step:
    opened = breaker.opened + 1
    until = now + open_for(opened, policy)
    return Step(Breaker(state=State.OPEN, since=now, opened=opened, until=until), (reason,))
