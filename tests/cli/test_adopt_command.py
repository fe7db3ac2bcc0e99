"""`controlplane adopt` asked wrongly, or away from any cluster: one sentence and the right code."""

from pathlib import Path

import pytest

from controlplane.cli import run


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chat", "--undo"], "'chat' is not NAMESPACE/NAME"),
        (["a/b/c", "--undo"], "'a/b/c' is not NAMESPACE/NAME"),
        (["models/chat"], "--model is missing"),
        (["models/chat", "--model", "chat"], "--class is missing"),
        (["models/chat", "--model", "a b", "--class", "T4"], "'a b' is no name a catalogue has"),
    ],
)
def test_what_is_asked_wrongly_ends_with_2_and_names_the_fault(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["adopt", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_kubeconfig_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "none"

    code = run(["adopt", "models/chat", "--undo", "--kubeconfig", str(missing)])

    assert code == 1
    assert f"there is no file {missing}" in capsys.readouterr().err


def test_a_cluster_that_does_not_answer_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config"
    config.write_text(
        """
apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
""",
        "utf-8",
    )

    code = run(["adopt", "models/chat", "--undo", "--kubeconfig", str(config)])

    said = capsys.readouterr().err
    assert code == 1
    assert "http://127.0.0.1:9" in said
    assert len(said.strip().splitlines()) == 1
