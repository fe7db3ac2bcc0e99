"""`controlplane check`: is this fleet file good? One line per fault, as editors understand it."""

from pathlib import Path
from typing import Any

import click
import msgspec

from controlplane.domain.catalogue import Catalogue
from controlplane.domain.faults import Fault, FaultsError
from controlplane.settings import Checked, checked, written_text


@click.command(epilog="Example: controlplane check fleet.yaml")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print faults and warnings as JSON.")
@click.pass_context
def command(ctx: click.Context, file: Path, as_json: bool) -> None:
    """Check the fleet FILE and say what it holds.

    Every fault is one line, file:line: field: value: rule, and the exit code is 2. What is accepted
    but deserves a second look is a warning; the exit code stays 0.
    """
    if not as_json:
        _tell(file, checked(written_text(file), str(file)))
        return
    try:
        found = checked(written_text(file), str(file))
    except FaultsError as error:
        _print({"file": str(file), "ok": False, "faults": [*map(_plain, error.faults)]})
        ctx.exit(2)
    warnings = [_plain(warning) for warning in found.warnings]
    _print({"file": str(file), "ok": True, "faults": [], "warnings": warnings})


def _tell(file: Path, found: Checked) -> None:
    for warning in found.warnings:
        click.echo(f"warning: {warning}", err=True)
    click.echo(f"{file}: good: {_contents(found.catalogue)}")


def _contents(catalogue: Catalogue) -> str:
    devices = sum(pool.nodes * pool.devices_per_node for pool in catalogue.pools)
    zones = len({pool.zone for pool in catalogue.pools})
    counts = (
        (len(catalogue.models), "model", "models"),
        (len(catalogue.node_classes), "node class", "node classes"),
        (devices, "device", "devices"),
        (zones, "zone", "zones"),
    )
    return ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts)


def _plain(fault: Fault) -> dict[str, Any]:
    return {
        "file": fault.source,
        "line": fault.line,
        "field": fault.field,
        "value": fault.value,
        "rule": fault.rule,
    }


def _print(answer: dict[str, Any]) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())
