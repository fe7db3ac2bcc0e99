"""The wishes of the last minutes, as spans of time. Timestamps are compared, never ticks counted.

A span ends where the next cycle looked. A gap of more than `LOST_AFTER_S` between two cycles is not
covered by either: nobody was looking (a restart, a frozen process).
"""

from controlplane.decide.scaling.inputs import Span

LOST_AFTER_S = 30.0


def remember(
    spans: tuple[Span, ...], at: float, wish: int | None, keep_s: float
) -> tuple[Span, ...]:
    """Add this cycle's wish and forget what is older than `keep_s`."""
    if not spans:
        return (Span(at, at, wish),)
    last = spans[-1]
    if at - last.end > LOST_AFTER_S:
        spans = (*spans, Span(at, at, wish))
    elif last.wish == wish:
        spans = (*spans[:-1], Span(last.start, at, wish))
    else:
        # The old wish stood until now; the new one begins here.
        spans = (*spans[:-1], Span(last.start, at, last.wish), Span(at, at, wish))
    horizon = at - keep_s
    if spans[0].end < horizon:
        spans = tuple(span for span in spans if span.end >= horizon)
    return spans


def covered_share(spans: tuple[Span, ...], at: float, window_s: float) -> float:
    """Give the share of the window in which a wish was known."""
    if window_s <= 0:
        return 1.0
    begin = at - window_s
    covered = sum(
        max(0.0, min(span.end, at) - max(span.start, begin))
        for span in spans
        if span.wish is not None
    )
    # The stretch since the last look is covered by what is seen now.
    if spans and spans[-1].wish is not None and 0 < at - spans[-1].end <= LOST_AFTER_S:
        covered += at - max(spans[-1].end, begin)
    return min(1.0, covered / window_s)


def highest_wish(spans: tuple[Span, ...], at: float, window_s: float) -> int:
    """Give the highest known wish that stood within the window; 0 where there is none."""
    begin = at - window_s
    return max(
        (span.wish for span in spans if span.wish is not None and span.end > begin), default=0
    )
