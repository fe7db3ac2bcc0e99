"""The command line itself: lazy commands, exit codes, one sentence per failure."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias

import click
import pytest

from controlplane import cli
from controlplane.domain.faults import Fault, FaultsError

FailWith: TypeAlias = Callable[[BaseException], None]


def failing_with(error: BaseException) -> click.Command:
    def fail() -> None:
        raise error

    return click.Command("status", callback=fail)


@pytest.fixture
def added() -> Iterator[Callable[[click.Command], None]]:
    """Puts a command in the place of `status` for one test."""
    yield cli.commands.add_command
    cli.commands.commands.clear()


@pytest.fixture
def fail_with(added: Callable[[click.Command], None]) -> FailWith:
    return lambda error: added(failing_with(error))


def test_help_names_every_command_without_importing_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--help"]) == 0

    said = capsys.readouterr().out
    assert all(f"  {name} " in said and line in said for name, line in cli.COMMANDS.items())


def test_help_loads_neither_settings_nor_arrays_nor_the_web() -> None:
    script = (
        "import sys; from controlplane.cli import run; run(['--help']); "
        "heavy = {'pydantic', 'numpy', 'aiohttp', 'sqlalchemy'} & set(sys.modules); "
        "sys.exit(bool(heavy))"
    )

    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)

    assert ended.returncode == 0


@pytest.mark.parametrize("arguments", [["no-such"], ["check"], ["check", "--no-such", "x"]])
def test_wrong_usage_ends_with_2_and_says_how(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(arguments) == 2
    assert "Usage: " in capsys.readouterr().err


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([]) == 2
    assert "Commands:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(98, "address already in use"), "controlplane: [Errno 98] address already in use"),
        (RuntimeError("the database is\nlocked"), "controlplane: the database is locked"),
        (KeyError("model"), "controlplane: KeyError: 'model'"),
        (ExceptionGroup("tasks", [RuntimeError("first"), OSError()]), "controlplane: first"),
    ],
)
def test_a_failure_is_one_sentence_and_exit_code_1(
    error: Exception, said: str, fail_with: FailWith, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(error)

    assert cli.run(["status"]) == 1
    assert capsys.readouterr().err == f"{said}\n"


def test_wrong_input_is_one_line_per_fault_and_exit_code_2(
    fail_with: FailWith, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(FaultsError([Fault("f", 9, "b", "2", "bad"), Fault("f", 3, "a", "1", "worse")]))

    assert cli.run(["status"]) == 2
    assert capsys.readouterr().err == "f:3: a: 1: worse\nf:9: b: 2: bad\n"


def test_an_interrupt_is_no_traceback(
    fail_with: FailWith, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(KeyboardInterrupt())

    assert cli.run(["status"]) == 130
    assert capsys.readouterr().err.strip() == "controlplane: interrupted"


def test_a_failure_can_be_debugged(fail_with: FailWith, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(KeyError("model"))
    monkeypatch.setenv("CONTROLPLANE_DEBUG", "1")

    with pytest.raises(KeyError):
        cli.run(["status"])


def test_a_command_may_choose_its_exit_code(added: Callable[[click.Command], None]) -> None:
    added(click.Command("status", callback=lambda: click.get_current_context().exit(7)))

    assert cli.run(["status"]) == 7


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert "controlplane, version 0.1.0" in capsys.readouterr().out


def test_a_reader_that_has_gone_is_no_failure_to_report() -> None:
    """`controlplane schema | head -1` prints one line and nothing else."""
    command = f"{sys.executable} -m controlplane schema --markdown | head -1"

    ended = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)

    assert (ended.stdout, ended.stderr) == ("# Settings\n", "")
