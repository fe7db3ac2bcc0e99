"""The daemon's options: command line, else environment, else default."""

from pathlib import Path

import pytest

from controlplane.domain.faults import FaultsError
from controlplane.settings import data_place, folder_beside, serve_options
from controlplane.settings.options import unknown_variables

HOME = {"XDG_STATE_HOME": "/state"}


def test_without_a_word_the_defaults_hold() -> None:
    options = serve_options({}, HOME)

    assert (options.host, options.port, options.speed) == ("127.0.0.1", 8080, 1.0)
    assert options.config is None
    assert options.data == "/state/controlplane"


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


def test_tls_needs_all_its_parts_named_as_people_write_them() -> None:
    environment = {**HOME, "CONTROLPLANE_SCALER_AUTHORITY": "ca.crt"}

    with pytest.raises(FaultsError) as raised:
        serve_options({"scaler_key": "tls.key"}, environment)

    assert raised.value.lines == (
        "--scaler-key: tls.key: needs --scaler-certificate beside it",
        "--scaler-authority: ca.crt: needs --scaler-certificate beside it",
    )


def test_a_scaler_listens_where_host_and_port_say() -> None:
    options = serve_options({}, {**HOME, "CONTROLPLANE_SCALER": "0.0.0.0:50051"})
    assert options.scaler == "0.0.0.0:50051"

    with pytest.raises(FaultsError, match="--scaler: 50051: is no HOST:PORT"):
        serve_options({"scaler": "50051"}, HOME)


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
    assert data_place(environment) == folder


@pytest.mark.parametrize(
    ("store", "environment", "folder"),
    [
        ("/d", HOME, "/d"),
        ("postgresql://db/fleet", HOME, "/state/controlplane"),
        ("postgresql://db/fleet", {**HOME, "STATE_DIRECTORY": "/var/lib/x:/y"}, "/var/lib/x"),
    ],
)
def test_what_lies_beside_the_store_lies_in_the_state_folder_where_that_is_a_database(
    store: str, environment: dict[str, str], folder: str
) -> None:
    assert folder_beside(store, environment) == Path(folder)


def test_the_store_s_address_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text("postgresql://fleet:s3cret@db/fleet\n")

    options = serve_options({}, {**HOME, "CONTROLPLANE_DATA_FILE": str(file)})

    assert options.data == "postgresql://fleet:s3cret@db/fleet"


def test_the_store_s_password_is_not_in_what_is_printed_of_the_options() -> None:
    environment = {"CONTROLPLANE_DATA": "postgresql://fleet:s3cret@db/fleet"}

    assert "s3cret" not in repr(serve_options({}, environment))


@pytest.mark.parametrize(
    ("content", "rule"),
    [(None, "cannot be read: No such file or directory"), (" \n", "is empty")],
)
def test_a_file_without_an_address_is_named(content: str | None, rule: str, tmp_path: Path) -> None:
    file = tmp_path / "url"
    if content is not None:
        file.write_text(content)

    with pytest.raises(FaultsError, match=f"CONTROLPLANE_DATA_FILE: {file}: {rule}"):
        data_place({"CONTROLPLANE_DATA_FILE": str(file)})


@pytest.mark.parametrize("password", ["s3cret", "s3:c@ret", "s3cret%40"])
def test_a_password_on_the_command_line_is_refused_and_not_repeated(password: str) -> None:
    with pytest.raises(FaultsError) as raised:
        serve_options({"data": f"postgresql://fleet:{password}@db/fleet"}, HOME)

    (line,) = raised.value.lines
    assert line.startswith("--data: postgresql://fleet:***@db/fleet: must hold no password")
    assert "s3" not in line
    assert serve_options({"data": "postgresql://fleet@db/fleet"}, HOME).data.startswith("postgres")


@pytest.mark.parametrize(
    ("name", "told", "shown"),
    [
        ("prometheus", "https://ann:s3cret@prometheus:9090", "https://ann:***@prometheus:9090"),
        ("alerts", "https://ann:s3cret@hooks/alerts", "https://ann:***@hooks/alerts"),
        (
            "alerts",
            "https://hooks/send?a=1&access_token=s3cret",
            "https://hooks/send?a=1&access_token=***",
        ),
    ],
)
def test_a_secret_in_an_address_on_the_command_line_is_refused_and_not_repeated(
    name: str, told: str, shown: str
) -> None:
    with pytest.raises(FaultsError) as raised:
        serve_options({name: told}, HOME)
    variable = f"CONTROLPLANE_{name.upper()}"
    options = serve_options({}, {**HOME, variable: told})

    (line,) = raised.value.lines
    assert line.startswith(f"--{name}: {shown}: must hold no secret, for the list of processes")
    assert f"set {variable}, or " in line
    assert "s3cret" not in line
    assert getattr(options, name) == told
    assert "s3cret" not in repr(options)


def test_an_address_without_a_secret_is_taken() -> None:
    address = "https://ann@prometheus:9090/tenant?partial_response=true"

    assert serve_options({"prometheus": address}, HOME).prometheus == address


def test_a_wrong_address_is_named_without_its_secret() -> None:
    with pytest.raises(FaultsError) as raised:
        serve_options({}, {**HOME, "CONTROLPLANE_ALERTS": "ftp://ann:s3cret@hooks"})

    (line,) = raised.value.lines
    assert line.startswith("CONTROLPLANE_ALERTS: ftp://ann:***@hooks: ")


def test_a_variable_nobody_reads_is_pointed_out() -> None:
    assert unknown_variables({"CONTROLPLANE_PROT": "1", "CONTROLPLANE_PORT": "1", "PATH": ""}) == (
        "CONTROLPLANE_PROT: is not known; did you mean CONTROLPLANE_PORT?",
    )
