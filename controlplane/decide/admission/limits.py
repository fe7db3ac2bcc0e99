"""The policy of admission as tables by rank, read once so that a request costs no look-ups."""

from math import ceil, inf
from typing import NamedTuple

from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import PRIORITIES


class Limits(NamedTuple):
    """One figure per rank (0 high, 1 medium, 2 low); a rule that is off is infinite."""

    bounds: tuple[float, ...]  # waiting requests
    bytes_bound: float  # waiting bytes per class
    reserve: int  # slots per ready replica that low leaves alone
    guarantee: tuple[float, ...]  # share of the slots
    guaranteed: bool  # any at all
    caps: tuple[float, ...]  # requests in flight
    capped: bool
    minimum_s: float
    ageing_s: float
    max_wait_s: tuple[float, ...]
    expiring: bool
    prompt: float  # tokens
    tokens_per_slot: float
    single: bool

    @classmethod
    def of(cls, policy: AdmissionPolicy) -> "Limits":
        """Read a policy; a single queue knows no classes, so no rule that is about them."""
        single = policy.single_queue
        capped = policy.limits == "fixed" and not single
        guarantee = tuple(0.0 if single else policy.guarantee.get(p, 0.0) for p in PRIORITIES)
        waits = tuple(inf if single else policy.max_wait_s.get(p, inf) for p in PRIORITIES)
        return cls(
            bounds=tuple(inf if single else policy.queue_bounds.get(p, inf) for p in PRIORITIES),
            bytes_bound=inf if single else policy.queue_bytes,
            reserve=0 if single else policy.reserve,
            guarantee=guarantee,
            guaranteed=any(guarantee),
            caps=tuple(policy.fixed_limits.get(p, inf) if capped else inf for p in PRIORITIES),
            capped=capped,
            minimum_s=inf if single else policy.minimum_service_s or inf,
            ageing_s=inf if single else policy.ageing_s or inf,
            max_wait_s=waits,
            expiring=min(waits) < inf,
            prompt=policy.prompt_limit or inf,
            tokens_per_slot=policy.tokens_per_slot or inf,
            single=single,
        )

    @property
    def patience(self) -> float:
        """The shortest wait after which time alone may change a request's turn."""
        return min(self.ageing_s, self.minimum_s, *self.max_wait_s)

    def most(self, rank: int, *, slots: int, lent: int, ready: int) -> int:
        """Give how many slots a class may hold, of those in service and those lent to low."""
        if rank < len(PRIORITIES) - 1:
            return int(min(self.caps[rank], slots))
        free = max(0, slots - self.reserve * ready) + lent
        return int(max(lent, min(self.caps[rank], free)))  # what is lent is low's whatever its cap

    @property
    def reads_prompts(self) -> bool:
        """Say whether the length of prompts matters to any rule."""
        return self.prompt < inf or self.tokens_per_slot < inf

    def weigh(self, prompt_tokens: int, max_tokens: int) -> int:
        """Give the slots a request takes, by the catalogue's scale."""
        return max(1, ceil((prompt_tokens + max_tokens) / self.tokens_per_slot))
