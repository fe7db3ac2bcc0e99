"""`controlplane simulate`: a load test in virtual time, under any policy."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import click

from controlplane.simulation.contenders import FORMS, contender
from controlplane.simulation.execution import run_scenario
from controlplane.simulation.library import load_scenario, shipped_scenarios
from controlplane.simulation.sweep import contestants, frontier, sweep

STEPS = 1000  # of the progress bar

EPILOG = f"""\b
Scenarios that ship:
  {", ".join(shipped_scenarios())}

\b
Examples:
  controlplane simulate seed-000
  controlplane simulate seed-000 --policy hpa:0.7 --seed 7 --json
  controlplane simulate seed-000 --policy static:4 --fifo
  controlplane simulate my-load.yaml --sweep
"""


@click.command(epilog=EPILOG)
@click.argument("scenario")
@click.option(
    "--policy",
    default="controlplane",
    show_default=True,
    metavar="NAME",
    help=f"Who decides: {', '.join(FORMS)}.",
)
@click.option(
    "--seed",
    default=1,
    show_default=True,
    type=click.IntRange(min=0),
    help="Seed of everything left to chance; the same seed gives the same report.",
)
@click.option("--fifo", is_flag=True, help="One unbounded queue without classes.")
@click.option(
    "--sweep",
    "swept",
    is_flag=True,
    help="Run every policy, two at a time, and compare them; --policy is not used.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(scenario: str, policy: str, seed: int, fifo: bool, swept: bool, as_json: bool) -> None:
    """Run a load test in virtual time.

    SCENARIO is the name of one that ships (see below), or a YAML file of your own like those.
    """
    loaded = load_scenario(scenario)  # wrong input is told before anything runs
    if swept:
        reports = _sweep(scenario, contestants(loaded.scenario), seed, fifo=fifo)
        click.echo(json.dumps(reports, indent=2) if as_json else frontier(reports))
        return
    contender(policy, loaded.scenario)
    report = _run(scenario, policy, seed, fifo=fifo)
    click.echo(json.dumps(report, indent=2) if as_json else _told(report))


def _run(scenario: str, policy: str, seed: int, *, fifo: bool) -> dict[str, Any]:
    if not sys.stderr.isatty():
        return run_scenario(scenario, policy, seed, fifo=fifo)
    with click.progressbar(length=STEPS, label=f"{scenario}, {policy}", file=sys.stderr) as bar:
        return run_scenario(scenario, policy, seed, fifo=fifo, progress=_moving(bar.update))


def _moving(update: Callable[[int], None]) -> Callable[[float], None]:
    """Turn shares of the whole into steps of a bar, and only move it when one is full."""
    shown = 0

    def progress(share: float) -> None:
        nonlocal shown
        reached = int(share * STEPS)
        if reached > shown:
            update(reached - shown)
            shown = reached

    return progress


def _sweep(scenario: str, policies: list[str], seed: int, *, fifo: bool) -> list[dict[str, Any]]:
    if not sys.stderr.isatty():
        return sweep(scenario, policies, seed, fifo=fifo)
    with click.progressbar(length=len(policies), label=scenario, file=sys.stderr) as bar:
        return sweep(scenario, policies, seed, fifo=fifo, finished=lambda _: bar.update(1))


def _told(report: Mapping[str, Any]) -> str:
    """Word a report for people."""
    bound = report["bound_gpu_hours"]
    against = f" ({report['gpu_hours'] / bound:.2f} x the bound of {bound:.2f})" if bound else ""
    turns, reaction = report["direction_changes"], _seconds(report["reaction_s"])
    lines = [
        f"{report['scenario']}, {report['policy']}, seed {report['seed']}",
        f"GPU-hours {report['gpu_hours']:.2f}{against}, idle {_percent(report['idle_ratio'])}",
        f"most serving {report['max_replicas']}, target turned {turns} times, reaction {reaction}",
        "",
        "class      arrived  rejected   in time  wait p50       p99       max",
    ]
    for name, of_class in report["classes"].items():
        if of_class["arrived"]:
            waits = (of_class[key] for key in ("wait_p50_s", "wait_p99_s", "wait_max_s"))
            lines.append(
                f"{name:8}{of_class['arrived']:>10}{of_class['rejected']:>10}"
                f"{_percent(of_class['in_time_ratio']):>10}"
                + "".join(f"{_seconds(wait):>10}" for wait in waits)
            )
    return "\n".join(lines)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f} %"


def _seconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.3f} s"
