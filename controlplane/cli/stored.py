"""The store as commands see it: where it lies, who asks, which models there are."""

import getpass
import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from controlplane.adapters.sql.store import Store
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.quantities import Instant, ModelName
from controlplane.render.sentences import LANGUAGES
from controlplane.settings import data_place, parse_catalogue, refuse_password

Command = TypeVar("Command", bound=Callable[..., Any])


def data_option(command: Command) -> Command:
    """Let a command be told where the store lies."""
    return click.option(
        "--data",
        metavar="WHERE",
        envvar="CONTROLPLANE_DATA",
        show_envvar=True,
        callback=_without_password,
        help="Folder of the store, or a postgresql:// URL; default: your state folder.",
    )(command)


def _without_password(
    asked: click.Context, option: click.Parameter, told: str | None
) -> str | None:
    if asked.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE:
        refuse_password("--data", told or "")
    return told


def json_option(command: Command) -> Command:
    """Let a command print JSON for scripts."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def language_option(command: Command) -> Command:
    """Let a command speak another language."""
    return click.option(
        "--language", type=click.Choice(list(LANGUAGES)), default="en", help="Of the sentences."
    )(command)


def place(data: str | None) -> str:
    """Say where the store lies, as `serve` would."""
    return data or data_place(os.environ)


def who() -> str:
    """Name the person for the audit log: the account the command runs under."""
    try:
        return f"{getpass.getuser()} (command line)"
    except (KeyError, OSError):  # a container may run under a number without a name
        return f"user {os.getuid()} (command line)"


async def in_force(store: Store) -> Catalogue | None:
    """Give the catalogue that was applied last, if ever one was."""
    versions = await store.catalogues.versions(limit=1)
    return parse_catalogue(versions[0].text, versions[0].source) if versions else None


async def catalogued(store: Store, model: str) -> Catalogue:
    """Give the catalogue in force; refuse a model it does not have, naming those it has."""
    catalogue = await in_force(store)
    if catalogue is None:
        raise click.ClickException(
            f"{model} is not known: no catalogue was ever in force in this store; "
            "start controlplane serve once"
        )
    if ModelName(model) not in catalogue.models:
        names = ", ".join(sorted(catalogue.models))
        raise FaultsError(
            [
                Fault(
                    "MODEL", None, "", model, f"is not in the catalogue in force, which has {names}"
                )
            ]
        )
    return catalogue


def moment(at: Instant) -> str:
    """Write an instant as people and scripts read it."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
