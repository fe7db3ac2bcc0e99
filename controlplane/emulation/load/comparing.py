"""What sets the variants apart, in sentences made of this run's figures and of nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from controlplane.emulation.load.variants import Variant

Figures = Mapping[str, Any]


def compared(runs: Mapping[str, Figures]) -> list[str]:
    """Say what was measured about queues against a token bucket; as much as was run."""
    return [*_fifo(runs), *_bucket(runs), *_unadmitted(runs)]


def _fifo(runs: Mapping[str, Figures]) -> Iterator[str]:
    """Compare one queue with a queue for each class."""
    if not {Variant.FIFO, Variant.PRIORITY} <= runs.keys():
        return
    ours, theirs = (_high(runs[v])["wait_p99_s"] for v in (Variant.PRIORITY, Variant.FIFO))
    if ours is None or theirs is None:
        return
    times = f", {theirs / ours:.0f} times less" if ours > 0 else ""
    yield (
        f"One queue refuses nobody and makes everybody wait for everybody: 99 of 100 high requests "
        f"waited up to {_s(theirs)} in it. Where the next free slot goes to the highest class it "
        f"is {_s(ours)}{times}."
    )


def _bucket(runs: Mapping[str, Figures]) -> Iterator[str]:
    """Say what a bucket refuses, and what it lets through to wait elsewhere."""
    run = runs.get(Variant.BUCKET)
    if run is None:
        return
    idle, ours = run["refused_while_idle"], runs.get(Variant.PRIORITY)
    if idle is not None:
        yield (
            f"A token comes at a fixed rate, a slot frees when it frees: of the bucket's "
            f"{idle['refusals']} refusals {idle['while_idle']} "
            f"({_percent(idle['while_idle'] / idle['refusals'])}) came while one of {run['slots']} "
            f"slots or more stood idle, and over the run {_percent(1 - run['busy_ratio'])} of the "
            f"slots' time was idle"
            + (f", of priority's {_percent(1 - ours['busy_ratio'])}." if ours else ".")
        )
    high, refused = _high(run), sum(_high(run)["refused"].values())
    if high["sent"] and high["wait_p99_s"] is not None:
        yield (
            f"It knows no classes: it refused {refused} of {high['sent']} high requests, and those "
            f"it let through waited up to {_s(high['wait_p99_s'])} (99 of 100) in the engines' own "
            f"queues, for a rate bounds arrivals and not what is on the slots."
        )
    if ours is not None and ours["refused_while_idle"] is not None:
        theirs = ours["refused_while_idle"]
        yield (
            f"Priority admission refuses when a class's queue is full: {theirs['refusals']} "
            f"refusals, {_refused(ours, ('high', 'medium'))} of them of high or medium."
        )


def _unadmitted(runs: Mapping[str, Figures]) -> Iterator[str]:
    """Say what the engines' own queues do."""
    if Variant.NONE in runs and (wait := _high(runs[Variant.NONE])["wait_p99_s"]) is not None:
        yield (
            f"Without admission the queue is in the engines, where nobody can be preferred: high "
            f"waited up to {_s(wait)} (99 of 100)."
        )


def _high(run: Figures) -> Figures:
    figures: Figures = run["classes"]["high"]
    return figures


def _refused(run: Figures, classes: Sequence[str]) -> int:
    return sum(sum(run["classes"][name]["refused"].values()) for name in classes)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _s(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"
