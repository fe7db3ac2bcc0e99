"""The command line: one file a command, imported only when that command is called.

A command is `controlplane/cli/<name>.py` exporting `command`. Its line in `--help` stands here, so
that help is fast and `serve` does not load what `simulate` needs.

Exit codes: 0 done · 1 it could not be done (one sentence says why) · 2 what was asked for is wrong
(bad options, or one line per fault of a file).
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from typing import NoReturn

import click

from controlplane import __version__
from controlplane.domain.faults import FaultsError

COMMANDS = {
    "serve": "Run the control plane: loops, pages and API.",
    "status": "Say how the fleet and the loops are.",
    "check": "Check a fleet file; one line per fault.",
    "schema": "Print the JSON Schema of the files people write.",
    "match": "Say which node classes each model fits, and why not the others.",
    "place": "Pack pods onto nodes and show the bound.",
    "simulate": "Run a load test in virtual time.",
    "import": "Read a ScaledObject or an HPA as a policy; take it over.",
    "signals": "Say where each signal of a model comes from.",
    "render": "Print what KEDA, an HPA or Istio is to be given for a model.",
    "adopt": "Take over an existing Deployment, or give it back.",
    "gateway": "Admit requests by priority, in front of engines.",
    "load": "Load a gateway, open loop; compare ways of admission.",
    "emulate": "Play an inference engine over HTTP, for tests and demos.",
    "decisions": "List decisions, newest first.",
    "explain": "Show why a decision came out as it did, and decide it again.",
    "pause": "Stop acting on one model, or on all.",
    "resume": "Act again on one model, or on all.",
    "pin": "Hold a model at a number of replicas.",
    "isolate": "Take a model out of traffic, or let it in again.",
    "token": "Create and list access tokens.",
    "migrate": "Bring the database to this version.",
}

FAILED, WRONG_INPUT, INTERRUPTED = 1, 2, 130


class LazyCommands(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order a newcomer needs them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; one that was added by hand goes before."""
        added = super().get_command(ctx, cmd_name)
        if added is not None or cmd_name not in COMMANDS:
            return added
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command: click.Command = import_module(f"controlplane.cli.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without importing a command."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="controlplane")
def commands() -> None:
    """Keep fleets of AI-model servers right-sized, warm and fairly admitted.

    Each command explains itself: controlplane COMMAND --help.
    Set CONTROLPLANE_DEBUG=1 to see the traceback of an unexpected failure.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command and give its exit code; only a failure to be debugged gets past here."""
    try:
        ended = commands.main(list(arguments), prog_name="controlplane", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:
        # The reader (head, less) has gone. Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (Exception, KeyboardInterrupt) as error:
        if os.environ.get("CONTROLPLANE_DEBUG"):
            raise
        text, code = ending(error)
        click.echo(text, err=True)
        return code
    return ended if isinstance(ended, int) else 0  # what the command gave to `Context.exit`


def ending(error: BaseException) -> tuple[str, int]:
    """Say in one line what went wrong (wrong input: a line per fault), and the exit code."""
    while isinstance(error, BaseExceptionGroup):  # of a group of failures, the first
        error = error.exceptions[0]
    if isinstance(error, FaultsError):
        return "\n".join(error.lines), WRONG_INPUT
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return "controlplane: interrupted", INTERRUPTED
    text = " ".join(str(error).split())
    if isinstance(error, OSError | RuntimeError) and text:
        return f"controlplane: {text}", FAILED  # these speak for themselves
    return f"controlplane: {type(error).__name__}{': ' * bool(text)}{text}", FAILED


def main() -> NoReturn:
    """Run what the command line says."""
    sys.exit(run(sys.argv[1:]))
