"""How many replicas of a model may be taken out of the balancing at once, by how many there are.

One replica is all there is: bad answers are better than none. Of two, one may go; of more, half,
for the others must carry their load too. Envoy takes the bound as a percentage and ejects while
fewer than that are out, so the percentage is made to mean exactly this count.
"""

from controlplane.domain.policies import BreakerPolicy

MOST = 0.5
LEAST_S = 30.0


def ejections(n: int) -> int:
    """Give how many of n replicas may be out at once."""
    return 0 if n < 2 else max(1, int(n * MOST))


def ejection_percent(n: int) -> int:
    """Give Envoy's `max_ejection_percent` that lets exactly so many go."""
    return ejections(n) * 100 // n if n else 0


def ejection_s(policy: BreakerPolicy, recovery_s: float) -> float:
    """Give how long a replica is out the first time, by how long one needs to begin anew."""
    return policy.ejection_s or max(LEAST_S, recovery_s)


def flaps(policy: BreakerPolicy, recovery_s: float) -> bool:
    """Say whether a replica is let in before it can have recovered, fails again, and so on."""
    return policy.replica_failures is not None and ejection_s(policy, recovery_s) < recovery_s
