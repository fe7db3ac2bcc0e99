"""Many policies on one scenario: the frontier of GPU-hours against requests in time."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any

from controlplane.simulation.contenders import PROFILES
from controlplane.simulation.execution import run_scenario
from controlplane.simulation.scenario import Scenario

PROCESSES = 2
HPA_TARGETS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85)
QUEUE_TARGETS = (1, 2, 5, 10, 20, 50)
COLUMNS = (
    "policy", "GPU-hours", "x bound", "high in time", "medium in time", "low in time",
    "turns of T", "most serving", "reaction s",
)  # fmt: skip


def contestants(scenario: Scenario) -> list[str]:
    """Name every policy worth comparing on a scenario."""
    least = min(model.min for model in scenario.models.values())
    most = max(model.max for model in scenario.models.values())
    return [
        *PROFILES,
        *(f"static:{n}" for n in range(max(least, 1), most + 1)),
        *(f"hpa:{target:g}" for target in HPA_TARGETS),
        *(f"keda-queue:{depth:g}" for depth in QUEUE_TARGETS),
        "kpa",
    ]


def sweep(
    scenario: str,
    policies: Sequence[str],
    seed: int,
    *,
    fifo: bool = False,
    finished: Callable[[str], None] | None = None,
) -> list[dict[str, Any]]:
    """Run every policy, two at a time, and give the reports in the order asked for."""
    reports: dict[str, dict[str, Any]] = {}
    context = get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    workers = ProcessPoolExecutor(
        PROCESSES, mp_context=context, initializer=_end_with, initargs=(theirs,)
    )
    with theirs, ours, workers as pool:
        asked = {
            pool.submit(run_scenario, scenario, policy, seed, fifo=fifo): policy
            for policy in policies
        }
        try:
            for done in as_completed(asked):
                reports[asked[done]] = done.result()
                if finished is not None:
                    finished(asked[done])
        except BaseException:  # Ctrl-C or a failed run: start no more, wait for none
            ours.close()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [reports[policy] for policy in policies]


def _end_with(parent: Connection) -> None:
    """Let a worker end, in the middle of a run too, once the other end is closed or gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when we end

    def end() -> None:
        wait([parent])
        os._exit(1)

    Thread(target=end, daemon=True).start()


def frontier(reports: Sequence[dict[str, Any]]) -> str:
    """Write the comparison as a Markdown table, fewest GPU-hours first."""
    ordered = sorted(reports, key=lambda report: report["gpu_hours"])
    lines = [_line(COLUMNS), _line(["---"] + ["---:"] * (len(COLUMNS) - 1))]
    lines += [_line(list(_cells(report))) for report in ordered]
    return "\n".join(lines)


def _cells(report: dict[str, Any]) -> Iterator[str]:
    yield report["policy"]
    yield f"{report['gpu_hours']:.2f}"
    bound = report["bound_gpu_hours"]
    yield f"{report['gpu_hours'] / bound:.2f}" if bound else "–"
    for priority in ("high", "medium", "low"):
        share = report["classes"][priority]["in_time_ratio"]
        yield "–" if share is None else f"{100 * share:.2f} %"
    yield str(report["direction_changes"])
    yield str(report["max_replicas"])
    reaction = report["reaction_s"]
    yield "–" if reaction is None else f"{reaction:.1f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
