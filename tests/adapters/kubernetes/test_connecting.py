"""A kubeconfig that cannot be used is said in one sentence that names the file and the fault."""

from pathlib import Path

import pytest

from controlplane.adapters.kubernetes.connecting import AddressError, connect, own_namespace
from controlplane.ports import UnavailableError

GOOD = """
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:6443/"}}]
users: [{name: u, user: {token: secret}}]
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no kubeconfig"),
        ("a: [", "is no kubeconfig"),
        ("[1, 2]", "is no kubeconfig"),
        (GOOD.replace("current-context: here", ""), "current-context"),
        (GOOD.replace("current-context: here", "current-context: there"), "there"),
        (GOOD.replace("cluster: c,", "cluster: gone,"), "gone"),
        (GOOD.replace('server: "http://127.0.0.1:6443/"', "tls-server-name: x"), "no server"),
        (GOOD.replace("http://127.0.0.1:6443/", "ftp://x"), "is no https:// address"),
        (
            GOOD.replace('"http://127', '"https://127').replace(
                "server:", "certificate-authority: /nowhere/ca.crt, server:"
            ),
            "/nowhere/ca.crt",
        ),
        (
            GOOD.replace('"http://127', '"https://127').replace(
                "server:", "certificate-authority-data: bm90IGEgY2VydGlmaWNhdGU=, server:"
            ),
            "certificates cannot be used",
        ),
    ],
)
async def test_what_is_wrong_with_a_kubeconfig_is_one_sentence(
    text: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "config"
    file.write_text(text, "utf-8")

    with pytest.raises(AddressError) as told:
        await connect(file)

    assert said in str(told.value)
    assert str(file) in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "wrong", ["a: [", GOOD.replace("current-context: here", "current-context: x")]
)
async def test_the_command_that_shows_a_kubeconfig_ends_the_one_sentence(
    wrong: str, tmp_path: Path
) -> None:
    file = tmp_path / "config"
    file.write_text(wrong, "utf-8")

    with pytest.raises(AddressError) as told:
        await connect(file)

    said = str(told.value).replace(str(file), "FILE")
    assert said.endswith("; kubectl config view --kubeconfig FILE shows what it says")
    assert ". " not in said


async def test_a_kubeconfig_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(AddressError, match=f"there is no file {tmp_path / 'config'}"):
        await connect(tmp_path / "config")


async def test_outside_of_a_cluster_a_kubeconfig_must_be_given() -> None:
    with pytest.raises(AddressError, match="give --kubeconfig FILE"):
        await connect(None)


async def test_a_good_kubeconfig_gives_the_servers_address(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(GOOD, "utf-8")

    door = await connect(file)

    assert door.host == "http://127.0.0.1:6443"
    await door.renew()
    await door.close()


async def test_a_token_that_a_program_gives_is_renewed_when_it_has_run_out(tmp_path: Path) -> None:
    program, calls = tmp_path / "credentials", tmp_path / "calls"
    program.write_text(
        "#!/bin/sh\n"
        f"echo x >> {calls}\n"
        'echo \'{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",'
        '"status":{"token":"t\'$(wc -l < ' + str(calls) + ")'\","
        '"expirationTimestamp":"2020-01-01T00:00:00Z"}}\'\n',
        "utf-8",
    )
    program.chmod(0o755)
    user = (
        "{exec: {apiVersion: client.authentication.k8s.io/v1, "
        f"command: {program}, interactiveMode: Never}}}}"
    )
    file = tmp_path / "config"
    file.write_text(GOOD.replace("{token: secret}", user), "utf-8")
    door = await connect(file)
    first = door.client.configuration.api_key["BearerToken"]

    await door.renew()

    assert first == "Bearer t1"
    assert door.client.configuration.api_key["BearerToken"] == "Bearer t2"
    await door.close()


async def test_a_program_that_gives_no_token_any_more_is_said_to_have_failed(
    tmp_path: Path,
) -> None:
    program = tmp_path / "credentials"
    token = (
        '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",'
        '"status":{"token":"t","expirationTimestamp":"2020-01-01T00:00:00Z"}}'
    )
    program.write_text(f"#!/bin/sh\necho '{token}'\n", "utf-8")
    program.chmod(0o755)
    user = (
        "{exec: {apiVersion: client.authentication.k8s.io/v1, "
        f"command: {program}, interactiveMode: Never}}}}"
    )
    file = tmp_path / "config"
    file.write_text(GOOD.replace("{token: secret}", user), "utf-8")
    door = await connect(file)
    program.write_text("#!/bin/sh\necho 'please log in' >&2\nexit 1\n", "utf-8")

    with pytest.raises(UnavailableError, match="please log in"):
        await door.renew()
    await door.close()


def test_the_namespace_is_the_one_given_else_the_service_accounts_else_the_usual(
    tmp_path: Path,
) -> None:
    assert own_namespace("models", tmp_path) == "models"
    assert own_namespace(None, tmp_path) == "controlplane"
    (tmp_path / "namespace").write_text("inference\n", "utf-8")
    assert own_namespace(None, tmp_path) == "inference"
