"""Commands that set something in the store, with no daemon running."""

import json
from pathlib import Path

import pytest

from controlplane.adapters.sql.address import FILE_NAME
from controlplane.adapters.sql.schema import HEAD
from controlplane.domain.overrides import Override
from controlplane.http.auth import secret_hash
from tests.cli.filled import MODEL, Said, fill, in_force


def test_migrate_makes_the_store_once(say: Said, folder: Path) -> None:
    file = folder / FILE_NAME

    assert say("migrate") == (0, f"{file}: migrated to version {HEAD}\n", "")
    assert say("migrate") == (0, f"{file}: is already at version {HEAD}\n", "")


def test_what_stands_in_the_way_of_migrating_is_one_sentence(say: Said, folder: Path) -> None:
    (folder / FILE_NAME).write_text("dear diary, " * 100)

    code, out, err = say("migrate")

    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "is not a database" in err


def test_a_secret_is_shown_once_and_its_hash_is_kept(say: Said, folder: Path) -> None:
    code, out, err = say("token", "create", "grafana", "--role", "viewer", "--days", "90")

    secret = out.strip()
    assert code == 0
    assert "only now" in err
    assert len(secret) > 40
    stored = (folder / FILE_NAME).read_bytes() + b"".join(
        file.read_bytes() for file in folder.glob("*-wal")
    )
    assert secret.encode() not in stored
    assert secret_hash(secret).encode() in stored


def test_tokens_are_listed_and_revoked(say: Said) -> None:
    say("token", "create", "ci", "--role", "operator", "--json")

    (listed,) = json.loads(say("token", "list", "--json")[1])
    assert (listed["name"], listed["role"], listed["expires_at"]) == ("ci", "operator", None)
    assert say("token", "create", "ci", "--role", "admin")[0] == 1
    assert say("token", "revoke", "ci") == (0, "ci: revoked\n", "")
    assert say("token", "revoke", "ci") == (
        2,
        "",
        "NAME: ci: is no token; there are: none\n",
    )
    assert json.loads(say("token", "list", "--json")[1]) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["token", "create", "a b", "--role", "viewer"],
        ["token", "create", "ab", "--role", "king"],
        ["token", "create", "ab", "--role", "viewer", "--days", "0"],
        ["decisions", "--limit", "0"],
        ["decisions", "--csv", "--json"],
        ["explain", "first"],
        ["pause"],
        ["pause", MODEL, "--all"],
        ["pin", MODEL],
        ["pin", MODEL, "2", "--off"],
        ["pin", MODEL, "99"],
        ["pin", MODEL, "-1"],
        ["isolate"],
        ["isolate", "unheard-of"],
        ["isolate", MODEL, "--off", "--reason", "it is well"],
        ["isolate", MODEL, "--reason", "x" * 201],
    ],
)
def test_wrong_input_ends_with_2_and_changes_nothing(
    say: Said, folder: Path, arguments: list[str]
) -> None:
    fill(folder)

    code, out, err = say(*arguments)

    assert (code, out) == (2, "")
    assert err
    assert in_force(folder) == {}


def test_a_pause_is_stored_with_who_set_it_and_a_resume_ends_it(say: Said, folder: Path) -> None:
    fill(folder)

    assert say("pause", MODEL)[0] == 0
    held: Override = in_force(folder)[MODEL]
    assert (held.paused, held.pinned) == (True, None)
    assert held.by.endswith("(command line)")

    assert say("resume", MODEL) == (0, f"{MODEL}: resumed\n", "")
    assert in_force(folder) == {}


def test_a_pause_keeps_a_pin_and_a_pin_keeps_a_pause(say: Said, folder: Path) -> None:
    fill(folder)

    say("pin", MODEL, "2")
    say("pause", MODEL)
    assert (in_force(folder)[MODEL].paused, in_force(folder)[MODEL].pinned) == (True, 2)

    say("pin", MODEL, "--off")
    assert (in_force(folder)[MODEL].paused, in_force(folder)[MODEL].pinned) == (True, None)


def test_all_is_a_switch_of_its_own(say: Said, folder: Path) -> None:
    fill(folder)
    say("pause", MODEL)
    say("pause", "--all")
    assert set(in_force(folder)) == {MODEL, "*"}

    _, out, _ = say("resume", "--all")

    assert set(in_force(folder)) == {MODEL}
    assert f"in force: {MODEL} paused by " in out


def test_the_whole_fleet_can_be_paused_before_the_first_start(say: Said, folder: Path) -> None:
    assert say("pause", "--all")[0] == 0
    assert in_force(folder)["*"].paused

    code, _, err = say("pause", MODEL)
    assert code == 1
    assert "no catalogue was ever in force" in err


def test_an_isolation_is_stored_with_its_reason_beside_a_pause_and_ends_with_off(
    say: Said, folder: Path
) -> None:
    fill(folder)
    say("pause", MODEL)

    code, out, _ = say("isolate", MODEL, "--reason", " corrupt weights ")
    held = in_force(folder)[MODEL]

    assert code == 0
    assert held.paused
    assert held.isolated is not None
    assert held.isolated.why == "corrupt weights"
    assert f"in force: {MODEL} isolated by {held.isolated.by}: corrupt weights" in out
    (told,) = json.loads(say("status", "--json")[1])["models"]
    assert told["isolated_by"] == held.isolated.by
    assert f"isolated by {held.isolated.by}" in say("status")[1]

    assert say("isolate", MODEL, "--off")[0] == 0
    assert (in_force(folder)[MODEL].paused, in_force(folder)[MODEL].isolated) == (True, None)
