"""`controlplane schema`: what may be written into the files, for editors and for people."""

import click
import msgspec

from controlplane.settings.reference import settings_reference
from controlplane.settings.schema import json_schema


@click.command(epilog="Example: controlplane schema > fleet.schema.json")
@click.option(
    "--kind",
    type=click.Choice(["fleet", "scenario"]),
    default="fleet",
    show_default=True,
    help="Of which file.",
)
@click.option("--markdown", is_flag=True, help="Print the settings reference instead.")
def command(kind: str, markdown: bool) -> None:
    """Print the JSON Schema of the fleet file, or of a scenario.

    Point your editor at it and the file is completed and checked while you type: with the YAML
    language server, write `# yaml-language-server: $schema=fleet.schema.json` in the first line.
    """
    if markdown:
        click.echo(settings_reference(), nl=False)
        return
    schema = json_schema(*_kind(kind))
    click.echo(msgspec.json.format(msgspec.json.encode(schema), indent=2).decode())


def _kind(kind: str) -> tuple[object, str]:
    # Each type is imported only when asked for: scenarios bring numpy with them.
    if kind == "scenario":
        from controlplane.simulation.scenario import Scenario  # noqa: PLC0415

        return Scenario, "controlplane scenario"
    from controlplane.domain.catalogue import Catalogue  # noqa: PLC0415

    return Catalogue, "controlplane fleet file"
