"""Commands that read the store, with no daemon running."""

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from controlplane.adapters.sql.address import FILE_NAME
from tests.cli.filled import MODEL, Said, fill


def test_decisions_are_listed_newest_first_with_their_sentence(say: Said, folder: Path) -> None:
    hold, refused, real = fill(folder)

    code, out, _ = say("decisions", "--json")

    listed = json.loads(out)
    assert code == 0
    assert [row["id"] for row in listed] == [real, refused, hold]
    assert listed[2]["repeats"] == 1
    assert listed[2]["decisive"] == "DrainWithin"
    assert listed[2]["at"] == "1970-01-01T02:46:40.000Z"
    assert listed[0]["sentence"].startswith("chat goes from 4 to ")


def test_decisions_are_narrowed_by_model_loop_and_number(say: Said, folder: Path) -> None:
    hold, refused, real = fill(folder)

    def listed(*options: str) -> list[int]:
        return [row["id"] for row in json.loads(say("decisions", "--json", *options)[1])]

    assert listed("--model", MODEL) == [refused, hold]
    assert listed("--loop", "spare") == [refused]
    assert listed("--moved") == [real, refused]
    assert listed("--limit", "1") == [real]


def test_decisions_as_csv_have_the_same_columns_as_json(say: Said, folder: Path) -> None:
    fill(folder)

    table = list(csv.DictReader(io.StringIO(say("decisions", "--csv")[1])))
    plain = json.loads(say("decisions", "--json")[1])

    assert table == [{name: str(value) for name, value in row.items()} for row in plain]


def test_decisions_for_people_are_a_line_each(say: Said, folder: Path) -> None:
    fill(folder)

    code, out, _ = say("decisions", "--model", MODEL)

    assert code == 0
    raised, hold = out.splitlines()
    assert raised.endswith("[open]")
    assert "(+1 times, last 1970-01-01T02:46:40.000Z)" in hold


def test_a_model_nobody_knows_is_refused_with_those_that_are_known(say: Said, folder: Path) -> None:
    fill(folder)

    for arguments in (["decisions", "--model", "clasifier"], ["pause", "clasifier"]):
        code, out, err = say(*arguments)

        assert (code, out) == (2, "")
        assert err == f"MODEL: clasifier: is not in the catalogue in force, which has {MODEL}\n"


def test_a_decision_is_explained_and_decided_again(say: Said, folder: Path) -> None:
    *_, real = fill(folder)

    code, out, _ = say("explain", str(real), "--json")

    told = json.loads(out)
    assert code == 0
    assert told["replay"] == "identical"
    assert told["trail"][0].keys() == {"code", "before", "after", "evidence", "sentence"}
    assert told["trail"][0]["before"] == told["current"]
    assert told["trail"][-1]["after"] == told["target"]
    assert told["trail"][0]["evidence"][0].keys() == {"name", "value", "limit", "unit"}
    assert told["actions"][0]["type"] == "SetTarget"
    assert told["seen"]["model"] == "chat"
    assert (told["world"], told["catalogue_version"]) == ("embedded-1", 1)


def test_an_altered_input_shows(say: Said, folder: Path) -> None:
    """The stored input is what the decision stands on; whoever alters it is found out."""
    *_, real = fill(folder)
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        connection.execute(
            "UPDATE decisions SET seen = json_set(seen, '$.policy.scaling.max', 4) WHERE id = ?",
            [real],
        )
        connection.commit()

    told = json.loads(say("explain", str(real), "--json")[1])

    assert "target" in [found["field"] for found in told["replay"]]
    assert say("explain", str(real))[1].count("stored") > 1


@pytest.mark.parametrize("path", ["$.at", "$.variants[0].load_s", "$.policy.spare.rotate_s"])
def test_an_altered_input_shows_where_no_rule_would_mind(
    say: Said, folder: Path, path: str
) -> None:
    """Not every byte moves a rule; the fingerprint beside the input knows them all."""
    *_, real = fill(folder)
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        query = "UPDATE decisions SET seen = json_set(seen, ?, 12345.5) WHERE id = ?"
        connection.execute(query, [path, real])
        connection.commit()

    told = json.loads(say("explain", str(real), "--json")[1])

    assert "seen" in [found["field"] for found in told["replay"]]


def test_an_input_no_rule_can_read_shows(say: Said, folder: Path) -> None:
    *_, real = fill(folder)
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        connection.execute("UPDATE decisions SET seen = '{}' WHERE id = ?", [real])
        connection.commit()

    told = json.loads(say("explain", str(real), "--json")[1])

    assert "written by another version" in told["replay"]["impossible"]


def test_a_decision_is_explained_in_words_and_in_chinese(say: Said, folder: Path) -> None:
    *_, real = fill(folder)

    _, english, _ = say("explain", str(real))
    _, chinese, _ = say("explain", str(real), "--language", "zh")

    assert english.startswith("chat goes from 4 to ")
    assert english.endswith("replay: identical\n")
    assert chinese.startswith("chat 从 4 增至 ")


def test_a_number_nobody_was_given_is_wrong_input(say: Said, folder: Path) -> None:
    fill(folder)

    assert say("explain", "4711") == (2, "", "ID: 4711: no decision has this number\n")
    code, _, err = say("explain", str(2**63))
    assert code == 2
    assert f"{2**63} is not in the range" in err


@pytest.mark.parametrize(
    "arguments", [["decisions"], ["explain", "1"], ["status"], ["token", "list"]]
)
def test_where_no_store_is_one_sentence_says_so(say: Said, arguments: list[str]) -> None:
    code, out, err = say(*arguments)

    assert (code, out) == (1, "")
    assert err.startswith("controlplane: there is no store at ")
    assert err.count("\n") == 1


def test_status_without_a_daemon_tells_what_the_store_knows(say: Said, folder: Path) -> None:
    hold, *_ = fill(folder)
    say("pause", MODEL)

    code, out, _ = say("status", "--json")

    told = json.loads(out)
    assert code == 0
    assert (told["source"], told["daemon"]["answers"], told["world"]) == (
        "store",
        False,
        "embedded-1",
    )
    (model,) = told["models"]
    assert (model["model"], model["target"], model["last"]["id"]) == (MODEL, 4, hold)
    assert model["paused_by"].endswith("(command line)")
    assert say("status")[1].splitlines()[1:3] == [
        "what the store knows:",
        f"{MODEL:<20} target 4, paused by {model['paused_by']}",
    ]
