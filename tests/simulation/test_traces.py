"""Traces: what is read, how it is replayed, and how a wrong file is refused."""

import gzip
from pathlib import Path

import pytest

from controlplane.domain.faults import FaultsError
from controlplane.simulation.library import TRACES
from controlplane.simulation.traces import read_trace


def written(folder: Path, text: str, name: str = "load.csv") -> Path:
    path = folder / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def faults(path: Path) -> list[str]:
    with pytest.raises(FaultsError) as refused:
        read_trace(path)
    return list(refused.value.lines)


def test_columns_are_read_by_name_and_others_left_alone(tmp_path: Path) -> None:
    text = "client,t_s,output_tokens,prompt_tokens,service_s\nx,0.5,7,100,1.25\ny,0.5,8,0,2\n"
    trace = read_trace(written(tmp_path, text))

    assert trace.at.tolist() == [0.5, 0.5]
    assert trace.prompt_tokens is not None
    assert trace.prompt_tokens.tolist() == [100, 0]
    assert trace.service_s is not None
    assert trace.service_s.tolist() == [1.25, 2.0]


def test_a_gzipped_file_reads_like_a_plain_one(tmp_path: Path) -> None:
    assert read_trace(written(tmp_path, "t_s\n1\n", "load.csv.gz")).at.tolist() == [1.0]


@pytest.mark.parametrize("name", ["load.csv", "load.csv.gz"])
def test_the_mark_a_spreadsheet_puts_in_front_is_no_part_of_the_header(
    tmp_path: Path, name: str
) -> None:
    assert read_trace(written(tmp_path, "\ufefft_s\n1\n", name)).at.tolist() == [1.0]


@pytest.mark.parametrize(
    ("name", "requests", "mean_s"),
    [
        ("azure-2023-conv.csv.gz", 19_366, 5.4225),
        ("azure-2023-code.csv.gz", 8_819, 0.9530),
        ("servegen-deepseek-r1-24h.csv.gz", 136_959, 42.1720),
    ],
)
def test_the_shipped_traces_are_whole(name: str, requests: int, mean_s: float) -> None:
    trace = read_trace(TRACES / name)
    assert trace.prompt_tokens is not None
    assert trace.output_tokens is not None
    seconds = trace.prompt_tokens / 8000 + trace.output_tokens * 0.025

    assert len(trace) == requests
    assert seconds.mean() == pytest.approx(mean_s, abs=1e-4)
    assert name in (TRACES / "ATTRIBUTION.md").read_text()


def test_every_fault_of_a_file_is_named_with_its_line_column_value_and_rule(tmp_path: Path) -> None:
    text = "t_s,prompt_tokens\n0,10\n-1,10\n\n2,1.5\nsoon,3\n4,nan\n"

    assert faults(written(tmp_path, text)) == [
        "load.csv:3: t_s: -1: must be a number, 0 or more",
        "load.csv:5: prompt_tokens: 1.5: must be a whole number of tokens, 0 or more",
        "load.csv:6: t_s: soon: must be a number, 0 or more",
        "load.csv:7: prompt_tokens: nan: must be a whole number of tokens, 0 or more",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "load.csv:1: t_s: the header must name a column t_s (seconds from the start)"),
        ("t_s\n", "load.csv:2: t_s: a trace must hold at least one request"),
        ("t_s\n2\n1\n", "load.csv:3: t_s: 1.0: must not be before line 2: times never fall"),
        ("t_s,x\n1\n", "load.csv:2: line: 1: must be the number of columns, 2 as in the header"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_in_one_line(
    tmp_path: Path, text: str, expected: str
) -> None:
    assert faults(written(tmp_path, text)) == [expected]


def test_a_file_with_many_faults_tells_the_first_twenty_and_how_many_more(tmp_path: Path) -> None:
    lines = faults(written(tmp_path, "t_s\n" + "x\n" * 30))

    assert len(lines) == 21
    assert lines[-1].endswith("and 10 more faults")


def test_a_missing_or_broken_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.csv.gz").write_bytes(b"not gzip")

    missing = tmp_path / "none.csv"

    assert faults(missing) == [f"{missing}: cannot be read: No such file or directory"]
    assert "cannot be read" in faults(tmp_path / "bad.csv.gz")[0]
