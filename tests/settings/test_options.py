"""The daemon's options: command line, else environment, else default."""

from pathlib import Path

import pytest

from controlplane.domain.faults import FaultsError
from controlplane.settings import data_folder, serve_options
from controlplane.settings.options import unknown_variables

HOME = {"XDG_STATE_HOME": "/state"}


def test_without_a_word_the_defaults_hold() -> None:
    options = serve_options({}, HOME)

    assert (options.host, options.port, options.speed) == ("127.0.0.1", 8080, 1.0)
    assert options.config is None
    assert options.data == Path("/state/controlplane")


def test_the_command_line_wins_over_the_environment() -> None:
    environment = {**HOME, "CONTROLPLANE_PORT": "9000", "CONTROLPLANE_SPEED": "60"}

    options = serve_options({"port": 7000, "speed": None}, environment)

    assert (options.port, options.speed) == (7000, 60.0)


def test_every_wrong_option_is_named_as_it_was_given() -> None:
    environment = {**HOME, "CONTROLPLANE_MODE": "atc", "CONTROLPLANE_SEED": "1.5"}

    with pytest.raises(FaultsError) as raised:
        serve_options({"port": "90000", "speed": "fast"}, environment)

    assert raised.value.lines == (
        "--port: 90000: must be at most 65535",
        "--speed: fast: must be a number",
        "CONTROLPLANE_MODE: atc: must be one of act, advise; did you mean act?",
        "CONTROLPLANE_SEED: 1.5: must be a whole number",
    )


@pytest.mark.parametrize("speed", ["0", "-1", "nan", "inf"])
def test_time_must_move_and_forwards(speed: str) -> None:
    with pytest.raises(FaultsError, match=f"--speed: {speed}: "):
        serve_options({"speed": speed}, HOME)


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"CONTROLPLANE_DATA": "/d", "STATE_DIRECTORY": "/var/lib/x"}, "/d"),
        ({"STATE_DIRECTORY": "/var/lib/controlplane:/other"}, "/var/lib/controlplane"),
        ({"XDG_STATE_HOME": "/state"}, "/state/controlplane"),
    ],
)
def test_the_store_lies_where_told_else_where_the_system_says(
    environment: dict[str, str], folder: str
) -> None:
    assert data_folder(environment) == Path(folder)


def test_a_variable_nobody_reads_is_pointed_out() -> None:
    assert unknown_variables({"CONTROLPLANE_PROT": "1", "CONTROLPLANE_PORT": "1", "PATH": ""}) == (
        "CONTROLPLANE_PROT: is not known; did you mean CONTROLPLANE_PORT?",
    )
