"""`render`, `import` and `signals`: what says nothing, or is nowhere, is refused in a sentence."""

from pathlib import Path

import pytest

from controlplane.cli import run
from tests.render.handover.fleet import TEXT

CHAT = ("render", "chat")


@pytest.fixture
def fleet(tmp_path: Path) -> str:
    path = tmp_path / "fleet.yaml"
    path.write_text(TEXT, "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("whom", "more", "told"),
    [
        ("hpa", ("--trigger", "drain"), "--trigger is for --for keda, not --for hpa"),
        ("istio", ("--paused",), "--paused is for --for keda, not --for istio"),
        ("istio", ("--held-at", "2"), "--held-at is for --for keda, not --for istio"),
        ("keda", ("--replicas", "2"), "--replicas is for --for istio or --for envoy, not --for"),
        ("keda", ("--engine", "chat=10.0.0.7:8000"), "--engine is for --for envoy, not --for"),
        ("keda", ("--held-at", "16"), "--held-at: 16: is more than chat may have, 15"),
        ("keda", ("--held-at", "-1"), "-1 is not in the range x>=0"),
        ("keda", ("--namespace", "A b"), "'A b' is none: a namespace has small letters"),
        ("keda", ("--namespace", ""), "'' is none: a namespace has small letters"),
        ("keda", ("--trigger", "depth"), "'depth' is not one of 'target', 'drain'"),
        ("nobody", (), "'nobody' is not one of 'keda', 'hpa', 'istio', 'envoy'"),
    ],
)
def test_what_would_be_passed_over_is_refused(
    whom: str, more: tuple[str, ...], told: str, fleet: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*CHAT, "--for", whom, "--config", fleet, *more]) == 2

    out, err = capsys.readouterr()
    assert told in err
    assert out == ""


def test_a_model_that_there_is_not_is_refused_with_those_there_are(
    fleet: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["render", "caht", "--for", "keda", "--config", fleet]) == 2

    told = "MODEL: caht: is no model of the fleet file, which has both, chat, qwen-7b, sdxl"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("more", [("--held-at", "0"), ("--held-at", "15"), ("--paused",)])
def test_what_is_for_keda_is_for_keda(
    more: tuple[str, ...], fleet: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*CHAT, "--for", "keda", "--config", fleet, *more]) == 0

    assert "autoscaling.keda.sh/paused" in capsys.readouterr().out


@pytest.mark.parametrize(
    "where", ["chat", "/", "models/", "a/b/c", "Models/chat", "a/../b", "a/.."]
)
def test_what_is_to_be_imported_has_a_namespace_and_a_name(
    where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", where, "--kubeconfig", "/nowhere"]) == 2

    assert f"{where!r} is not NAMESPACE/NAME, e.g. models/chat." in capsys.readouterr().err


@pytest.mark.parametrize(
    "url", ["ftp://a", "daemon:8080", "http://", "http://127.0.0.1:99999", "http://a:b", "no url"]
)
def test_an_address_that_no_daemon_can_have_is_refused(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["signals", "chat", "--url", url]) == 2

    assert capsys.readouterr().err == f"--url: {url}: must be http://HOST:PORT\n"
