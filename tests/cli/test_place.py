"""`controlplane place`: figures for scripts, words for people, one line per fault."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from controlplane import cli

DATA = Path(__file__).parents[1] / "data" / "placement"
FIELDS = [
    "pods",
    "unplaced",
    "unplaced_gib",
    "devices_used",
    "stranded_gib",
    "bound_unplaced_gib",
    "method",
    "seconds",
]
NODES = "node,zone,gpu_model,gpus,vram_mib_per_gpu,runtime\n"
PODS = "pod,model,gpus,vram_mib_per_gpu,runtime\n"
GOOD_NODES, GOOD_PODS = NODES + "n,z,T4,1,100,cuda\n", PODS + "p,m,1,50,both\n"
Captured = pytest.CaptureFixture[str]


def files(name: str) -> list[str]:
    nodes, pods = DATA / f"{name[0]}_nodes.csv", DATA / f"{name}_pods.csv"
    return ["--nodes", str(nodes), "--pods", str(pods)]


def placed(capsys: Captured, *arguments: str) -> dict[str, Any]:
    assert cli.run(["place", *arguments, "--json"]) == 0
    figures: dict[str, Any] = json.loads(capsys.readouterr().out)
    return figures


def test_json_has_the_agreed_fields_and_only_the_seconds_vary(capsys: Captured) -> None:
    first, second = (placed(capsys, *files("S85")) for _ in range(2))
    assert list(first) == FIELDS
    assert first | {"seconds": 0} == second | {"seconds": 0}
    assert (first["pods"], first["unplaced"], first["method"]) == (96, 0, "solver")


@pytest.mark.parametrize(
    ("name", "unplaced"), [("S55", 19), ("S85", 55), ("M55", 47), ("M85", 231)]
)
def test_whole_devices_reach_the_optimum(name: str, unplaced: int, capsys: Captured) -> None:
    figures = placed(capsys, *files(name), "--whole-devices")
    assert figures["unplaced"] == unplaced
    assert figures["unplaced_gib"] == figures["bound_unplaced_gib"]


def test_without_the_replan_best_fit_answers(capsys: Captured) -> None:
    figures = placed(capsys, *files("M85"), "--no-replan")
    assert (figures["method"], figures["unplaced"], figures["unplaced_gib"]) == ("best-fit", 6, 144)


def test_the_usable_share_is_0_9_unless_said(capsys: Captured) -> None:
    plain = placed(capsys, *files("S55"), "--whole-devices")
    said = placed(capsys, *files("S55"), "--whole-devices", "--usable", "0.9")
    more = placed(capsys, *files("S55"), "--whole-devices", "--usable", "1")
    assert plain | {"seconds": 0} == said | {"seconds": 0}
    assert more["stranded_gib"] > said["stranded_gib"]


def test_people_read_the_result_the_bound_and_what_was_left_out(capsys: Captured) -> None:
    assert cli.run(["place", *files("S55"), "--whole-devices"]) == 0
    said = capsys.readouterr().out
    assert "46 of 65 pods placed by size-descending best fit." in said
    assert "Left out: 19 pods, 84 GiB (no packing leaves out less than 84 GiB)." in said
    assert "left out" in said
    assert "rerank-1b" in said


def test_seats_say_where_every_pod_went(capsys: Captured, tmp_path: Path) -> None:
    target = tmp_path / "seats.csv"
    placed(capsys, *files("S55"), "--seats", str(target))
    with target.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 65
    moe = next(row for row in rows if row["pod"].startswith("moe-235b"))
    assert moe["devices"] == "0 1 2 3 4 5 6 7"


def test_help_shows_an_example(capsys: Captured) -> None:
    assert cli.run(["place", "--help"]) == 0
    assert "Example: controlplane place --nodes" in capsys.readouterr().out


def refused(capsys: Captured, tmp_path: Path, nodes: str, pods: str) -> list[str]:
    (tmp_path / "n.csv").write_text(nodes, newline="")
    (tmp_path / "p.csv").write_text(pods, newline="")
    at = ["--nodes", str(tmp_path / "n.csv"), "--pods", str(tmp_path / "p.csv")]
    assert cli.run(["place", *at]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.replace(f"{tmp_path}/", "").splitlines()


@pytest.mark.parametrize(
    ("nodes", "pods", "fault"),
    [
        ("n,z,T4,x,1,cuda", "", "n.csv:2: gpus: x: must be a whole number of at least 0"),
        ("n,z,T4,1,0,cuda", "", "n.csv:2: vram_mib_per_gpu: 0: must be from 1 to 1000000000"),
        ("n,z,T4,1,1.5,cuda", "", "n.csv:2: vram_mib_per_gpu: 1.5: must be a whole number"),
        ("n,,T4,1,1,cuda", "", "n.csv:2: zone: must not be empty"),
        ("n,z,T4,1,1,cude", "", "n.csv:2: runtime: cude: must name cuda, cann"),
        ("n,z,T4,1,1,both", "", "n.csv:2: runtime: both: must be one runtime"),
        ("n,z,T4,1,1", "", "n.csv:2: n,z,T4,1,1: has 5 cells, the first line has 6"),
        ("n,z,T4,1,1,cuda\nn,z,T4,1,1,cuda", "", "n.csv:3: node: n: must be unique, but line 2"),
        ("", "p,m,0,1,cuda", "p.csv:2: gpus: 0: must be from 1 to"),
        ("", "p,m,-1,1,cuda", "p.csv:2: gpus: -1: must be a whole number of at least 1"),
        ("", 'p,m,1,1,"cuda', "p.csv:2: is no CSV: unexpected end of data"),
    ],
)
def test_every_fault_is_one_line_with_file_line_field_value_and_rule(
    nodes: str, pods: str, fault: str, capsys: Captured, tmp_path: Path
) -> None:
    said = refused(
        capsys,
        tmp_path,
        f"{NODES}{nodes}\n" if nodes else GOOD_NODES,
        f"{PODS}{pods}\n" if pods else GOOD_PODS,
    )
    assert len(said) == 1
    assert said[0].startswith(fault)


def test_all_faults_of_both_files_are_given_at_once(capsys: Captured, tmp_path: Path) -> None:
    said = refused(capsys, tmp_path, NODES + "n,z,T4,x,y,cuda\n", PODS + "p,m,0,1,none\n")
    assert len(said) == 4


def test_a_missing_column_and_an_empty_file_name_what_is_missing(
    capsys: Captured, tmp_path: Path
) -> None:
    said = refused(capsys, tmp_path, "node,zone\n", "")
    missing = [line.split(": ")[1] for line in said if line.startswith("n.csv:1")]
    assert missing == ["gpu_model", "gpus", "vram_mib_per_gpu", "runtime"]
    assert sum(line.startswith("p.csv:1") for line in said) == 5


@pytest.mark.parametrize("share", ["0", "1.1", "-0.5", "nan", "much"])
def test_a_usable_share_that_is_none_is_refused(share: str, capsys: Captured) -> None:
    assert cli.run(["place", *files("S55"), "--usable", share]) == 2
    assert "is not above 0 and up to 1" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_refused(capsys: Captured) -> None:
    assert cli.run(["place", "--nodes", "no-such.csv", "--pods", "no-such.csv"]) == 2
    assert "no-such.csv" in capsys.readouterr().err
