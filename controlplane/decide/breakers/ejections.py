"""How many replicas of a model may be taken out of the balancing at once, by how many there are.

One replica is all there is: bad answers are better than none. Of two, one may go; of more, half,
for the others must carry their load too. Envoy takes the bound as a percentage and ejects while
fewer than that are out, so the percentage is made to mean exactly this count.
"""

MOST = 0.5


def ejections(n: int) -> int:
    """Give how many of n replicas may be out at once."""
    return 0 if n < 2 else max(1, int(n * MOST))


def ejection_percent(n: int) -> int:
    """Give Envoy's `max_ejection_percent` that lets exactly so many go."""
    return ejections(n) * 100 // n if n else 0
