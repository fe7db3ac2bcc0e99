"""A load while it runs: one line a target, drawn anew twice a second, at a terminal only."""

import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable

import click

from controlplane.domain.priorities import PRIORITIES
from controlplane.emulation.load.open_loop import OpenLoop
from controlplane.emulation.load.outcomes import Ending, Outcome
from controlplane.emulation.load.sending import Sender
from controlplane.queueing.percentiles import quantile

EVERY_S, RECENT_S = 0.5, 5.0
UP, CLEAR = "\x1b[{}A", "\x1b[2K"


def live(loop: OpenLoop, seconds: float, token_s: float | None) -> Callable[[], Awaitable[None]]:
    """Give what draws until it is cancelled."""

    async def draw() -> None:
        if not sys.stderr.isatty():
            return
        drawn = 0
        while True:
            lines = [_head(loop, seconds), *(_line(s, loop.now(), token_s) for s in loop.senders)]
            text = "".join(f"{CLEAR}{line}\n" for line in lines)
            click.echo((UP.format(drawn) if drawn else "") + text, err=True, nl=False)
            drawn = len(lines)
            await asyncio.sleep(EVERY_S)

    return draw


def aside(text: str) -> None:
    """Tell people at a terminal; a script is not spoken to."""
    if sys.stderr.isatty():
        click.echo(text, err=True)


def _head(loop: OpenLoop, seconds: float) -> str:
    now = loop.now()
    if now > seconds:
        return f"{seconds:.0f} s sent; waiting for the last answers (Ctrl-C ends it)"
    return f"{now:.0f} of {seconds:.0f} s (Ctrl-C ends it and reports what there is)"


def _line(sender: Sender, now: float, token_s: float | None) -> str:
    """Say how one target does: in all, and how its classes fared in the last seconds."""
    book = sender.book
    of = Counter(one.ending for one in book.outcomes)
    recent = _recent(book.outcomes, now - RECENT_S)
    p99s = " ".join(f"{p.value} {_p99(recent, p.rank, token_s)}" for p in PRIORITIES)
    return (
        f"{sender.target.name:<9} {of[Ending.SERVED]:>7} served {of[Ending.REFUSED]:>6} refused "
        f"{of[Ending.BROKEN]:>4} broken {book.under_way:>6} under way · "
        f"{'latency' if token_s is None else 'wait'} p99 {p99s}"
    )


def _recent(outcomes: list[Outcome], since: float) -> list[Outcome]:
    """Give those that ended lately; they are noted in the order in which they ended."""
    found = []
    for one in reversed(outcomes):
        if one.end < since:
            break
        found.append(one)
    return found


def _p99(recent: list[Outcome], rank: int, token_s: float | None) -> str:
    served = [o for o in recent if o.wish.rank == rank and o.ending is Ending.SERVED]
    p99 = quantile((o.latency if token_s is None else o.wait(token_s) for o in served), 0.99)
    return "–" if p99 is None else f"{p99 * 1e3:.0f} ms" if p99 < 1 else f"{p99:.1f} s"
