"""`controlplane migrate`: bring the database to this version."""

import click

from controlplane.adapters.sql.address import Address
from controlplane.adapters.sql.migrate import upgrade
from controlplane.adapters.sql.schema import HEAD
from controlplane.cli.stored import data_option, place


@click.command(epilog="Example: controlplane migrate --data /var/lib/controlplane")
@data_option
def command(data: str | None) -> None:
    """Create or migrate the store's tables. `serve` does it by itself.

    Stop the daemon first: one of the version before would meet tables it does not know.
    """
    address = Address(place(data))
    done = upgrade(address)
    click.echo(f"{address}: {'migrated to' if done else 'is already at'} version {HEAD}")
