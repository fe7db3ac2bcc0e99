"""How a command is told which cluster it speaks to."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def kubeconfig_option(command: Command) -> Command:
    """Let a command be told where the cluster is."""
    return click.option(
        "--kubeconfig",
        type=click.Path(dir_okay=False, path_type=Path),
        envvar="KUBECONFIG",
        show_envvar=True,
        help="Of the cluster; default: ~/.kube/config, or the pod's service account.",
    )(command)
