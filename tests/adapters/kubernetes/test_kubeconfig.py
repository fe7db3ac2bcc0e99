"""What is wrong with a kubeconfig, in words that help whoever reads them at night.

No word of Python, nothing that stands in the file as a secret, and what to do about it.
"""

from pathlib import Path

import pytest

from controlplane.adapters.kubernetes.connecting import AddressError, connect
from controlplane.adapters.kubernetes.refusals import Asked, away, refusal
from controlplane.adapters.kubernetes.resources import NAMESPACES, Place
from tests.adapters.kubernetes.test_connecting import GOOD
from tests.adapters.kubernetes.test_refusals import status

SECRET = "not-for-anybody"
FILE = GOOD.replace("token: secret", f"token: {SECRET}")
PYTHONS = ("NoneType", "Error", "iterable", "indices", "assignment", "[Errno")


def login(program: str, *arguments: str) -> str:
    said = f"[{', '.join(repr(one) for one in arguments)}]"
    return FILE.replace(
        f"{{token: {SECRET}}}",
        "{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
        f"command: {program}, args: {said}}}}}",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it must say current-context, contexts, clusters and users"),
        ("- a", "it must say current-context, contexts, clusters and users"),
        ("hello", "it must say current-context, contexts, clusters and users"),
        ("apiVersion: v1", "names no current-context"),
        (
            FILE.replace("current-context: here", "current-context: there"),
            "has no there, which is its current-context; it has here",
        ),
        (
            FILE.replace("cluster: c,", "cluster: gone,"),
            "has no gone, which is the cluster of context here; it has c",
        ),
        (
            FILE.replace("user: u}", "user: gone}"),
            "has no gone, which is the user of context here; it has u",
        ),
        (FILE.replace("cluster: c, ", ""), "has a context here that names no cluster"),
        (
            FILE.replace(f"user: {{token: {SECRET}}}", f"token: {SECRET}"),
            "has no `user:` under u, which is the user of context here",
        ),
        (FILE.replace('"http://127.0.0.1:6443/"', "6443"), "names the server 6443"),
        (login("no-such-login"), "no-such-login is not there; command -v no-such-login shows"),
        (login("sh", "-c", "echo log in first >&2; exit 3"), "program sh failed: exec: process"),
        (login("sh", "-c", "echo log in first >&2; exit 3"), "log in first"),
        (login("echo", "hello"), "its credentials program echo failed"),
    ],
)
async def test_the_sentence_names_what_is_lost_and_what_there_is(
    text: str, said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "config"
    file.write_text(text, "utf-8")

    with pytest.raises(AddressError) as told:
        await connect(file)

    sentence = str(told.value)
    assert said in sentence
    assert sentence.startswith(f"kubeconfig: {file}")
    assert SECRET not in sentence
    assert not [word for word in PYTHONS if word in sentence]
    assert not caplog.records  # nothing besides the one sentence


async def test_what_is_no_text_and_what_is_a_folder_are_said_to_be_so(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_bytes(b"\x00\xff\xfe")

    with pytest.raises(AddressError, match="it is no text"):
        await connect(file)
    with pytest.raises(AddressError, match="is a folder; give the file in it"):
        await connect(tmp_path)


def test_who_shows_no_credentials_is_given_no_command_that_would_let_everybody_in() -> None:
    said = 'namespaces "x" is forbidden: User "system:anonymous" cannot get resource "namespaces"'

    told = str(refusal(Asked("get", Place(NAMESPACES, "x", "x")), 403, status(said, "Forbidden")))

    assert "kubectl create" not in told
    assert "the kubeconfig's user has none; kubectl config view" in told


def test_an_address_without_https_is_said_to_need_it() -> None:
    plain = b"Client sent an HTTP request to an HTTPS server.\n"

    told = str(refusal(Asked("get", Place(NAMESPACES, "x", "x")), 400, plain))

    assert told.endswith("its address must begin with https://")


def test_no_answer_comes_with_the_command_that_shows_why() -> None:
    nobody = away("https://10.0.0.1:6443", OSError("Connect call failed"))
    other = away("https://10.0.0.1:6443", OSError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed"))

    assert str(nobody).endswith(
        "; curl -k https://10.0.0.1:6443/livez shows whether it can be reached"
    )
    assert "kubectl config view --minify shows the certificate-authority" in str(other)
