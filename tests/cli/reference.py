"""Renders docs/cli.md from what the commands say of themselves.

Write it anew: python -m tests.cli.reference > docs/cli.md
"""

from collections.abc import Iterator

import click

from controlplane.cli import COMMANDS, commands

HEAD = """\
# Commands

What `controlplane COMMAND --help` says, on one page. Where a script would read the answer there is
`--json`; `decisions` has `--csv` too. Answers go to standard output, everything else to standard
error.

| exit code | meaning |
|---|---|
| 0 | Done. `check`: the file is good, perhaps with warnings. |
| 1 | It could not be done; one sentence says why: port in use, database locked or from a newer \
version, disk full. |
| 2 | What was asked for is wrong: an unknown option, or one line `file:line: field: value: rule` \
for each fault of a file. Nothing was changed. |
| 130 | Interrupted. |
"""


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Give each command by its full name; those of a group follow the group."""
    top = click.Context(commands, info_name="controlplane")
    for name in COMMANDS:
        command = commands.get_command(top, name)
        if command is None:
            raise LookupError(name)
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", of) for inner, of in sorted(command.commands.items()))


def help_of(name: str, command: click.Command) -> str:
    """Give what `--help` says, 100 columns wide wherever it is asked."""
    settings = {**commands.context_settings, **command.context_settings}
    context = click.Context(
        command,
        info_name=f"controlplane {name}",
        max_content_width=100,
        terminal_width=100,
        help_option_names=settings["help_option_names"],
    )
    return command.get_help(context)


def page() -> str:
    """Give the whole page."""
    parts = [HEAD]
    parts += [f"## {name}\n\n```\n{help_of(name, of)}\n```\n" for name, of in every_command()]
    return "\n".join(parts)


if __name__ == "__main__":
    click.echo(page(), nl=False)
