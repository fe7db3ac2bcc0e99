"""What a run came to, class by class: exact percentiles of what every single request lived through.

Whoever was still waiting when the run was over counts with the time it had waited: leaving it out
would make the slowest target look best.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.emulation.load.outcomes import Ending, Outcome
from controlplane.queueing.percentiles import quantile

SHARES = {"p50": 0.5, "p99": 0.99, "max": 1.0}


def by_class(
    outcomes: Sequence[Outcome], token_s: float | None, limits: Mapping[Priority, float]
) -> dict[str, dict[str, Any]]:
    """Give the figures of each class; waits only where the length of an answer in time is known."""
    return {
        priority.value: figures(
            [one for one in outcomes if one.wish.rank == priority.rank],
            token_s,
            limits.get(priority),
        )
        for priority in PRIORITIES
    }


def figures(
    outcomes: Sequence[Outcome], token_s: float | None, limit_s: float | None
) -> dict[str, Any]:
    """Give one class's; a figure that cannot be known is None."""
    of = Counter(one.ending for one in outcomes)
    timed = [one for one in outcomes if one.ending in (Ending.SERVED, Ending.UNFINISHED)]
    first = [one.first_byte - one.wish.at for one in timed if one.first_byte is not None]
    waits = (
        None if token_s is None else [w for one in timed if (w := waited(one, token_s)) is not None]
    )
    return {
        "sent": len(outcomes),
        "served": of[Ending.SERVED],
        "refused": _by_reason(outcomes, Ending.REFUSED),
        "broken": _by_reason(outcomes, Ending.BROKEN),
        "unfinished": of[Ending.UNFINISHED],
        **_percentiles("wait", waits),
        **_percentiles("latency", [one.latency for one in timed]),
        **_percentiles("first_byte", first),
        "in_time_ratio": _in_time(outcomes, token_s, limit_s),
    }


def waited(one: Outcome, token_s: float) -> float | None:
    """Give a wait; of who may still be served without having waited at all it is not known."""
    wait = one.wait(token_s)
    return None if one.ending is Ending.UNFINISHED and not wait else wait


def lag_p99(outcomes: Sequence[Outcome]) -> float | None:
    """Say how late requests left: where it is long, this machine was the bottleneck."""
    return _rounded(quantile((one.lag for one in outcomes), 0.99))


def _in_time(
    outcomes: Sequence[Outcome], token_s: float | None, limit_s: float | None
) -> float | None:
    """Give the share served with a wait within the limit; the unfinished are late once past it."""
    if token_s is None or limit_s is None:
        return None
    late = [one.wait(token_s) > limit_s for one in outcomes]
    served = [one.ending is Ending.SERVED for one in outcomes]
    open_still = [one.ending is Ending.UNFINISHED for one in outcomes]
    good = sum(s and not x for s, x in zip(served, late, strict=True))
    unjudged = sum(o and not x for o, x in zip(open_still, late, strict=True))
    judged = len(outcomes) - unjudged
    return _rounded(good / judged) if judged else None


def _by_reason(outcomes: Sequence[Outcome], ending: Ending) -> dict[str, int]:
    return dict(Counter(one.reason for one in outcomes if one.ending is ending).most_common())


def _percentiles(name: str, values: Sequence[float] | None) -> dict[str, float | None]:
    ordered = sorted(values or ())
    return {f"{name}_{key}_s": _rounded(quantile(ordered, q)) for key, q in SHARES.items()}


def _rounded(x: float | None) -> float | None:
    return None if x is None else round(x, 6)
