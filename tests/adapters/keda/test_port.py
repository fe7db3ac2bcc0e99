"""The scaler's port: ready once it answers, watched by Kubernetes' probe, over TLS where wanted."""

import asyncio
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from grpc import aio
from grpc_health.v1 import health_pb2
from grpc_tools import protoc

from controlplane.adapters.keda.board import Board
from controlplane.adapters.keda.generated import externalscaler_pb2
from controlplane.adapters.keda.server import Certificates, ScalerPort
from controlplane.clock import Clock
from tests.adapters.keda.asking import FLEET, Keda, keda, scaler

KEDA_FOLDER = Path(externalscaler_pb2.__file__).parents[1]


async def test_k2_nothing_is_published_before_the_port_has_answered_itself() -> None:
    port = ScalerPort(Board(), lambda: FLEET, Clock(), "127.0.0.1:0")
    assert not port.answers.is_set()

    running = asyncio.create_task(port.run())
    async with asyncio.timeout(30):
        await port.answers.wait()
    async with keda(port) as asking:
        assert await asking.spec() == ("target", 1, 1.0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert not port.answers.is_set()


async def test_a_port_in_use_is_one_sentence() -> None:
    async with scaler(Board()) as first:
        second = ScalerPort(Board(), lambda: FLEET, Clock(), f"127.0.0.1:{first.port}")

        with pytest.raises(OSError, match=f"keda: 127.0.0.1:{first.port} cannot be listened on"):
            await second.run()


async def test_the_health_service_says_serving() -> None:
    async with scaler(Board()) as port, aio.insecure_channel(f"127.0.0.1:{port.port}") as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        answer = await check(health_pb2.HealthCheckRequest(), timeout=3)

    assert answer.status == health_pb2.HealthCheckResponse.SERVING


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder = tmp_path_factory.mktemp("tls")
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", folder / "tls.key", "-out", folder / "tls.crt"],
        check=True, capture_output=True,
    )  # fmt: skip
    return Certificates(certificate=folder / "tls.crt", key=folder / "tls.key")


async def test_over_tls_it_answers_whoever_trusts_its_certificate(
    certificates: Certificates,
) -> None:
    async with scaler(Board(), certificates=certificates) as port:
        trusted = grpc.ssl_channel_credentials(certificates.certificate.read_bytes())
        async with aio.secure_channel(f"localhost:{port.port}", trusted) as channel:
            assert await Keda(channel).spec() == ("target", 1, 1.0)


async def test_with_an_authority_a_caller_without_certificate_is_refused(
    certificates: Certificates,
) -> None:
    mutual = Certificates(
        certificate=certificates.certificate,
        key=certificates.key,
        authority=certificates.certificate,
    )
    async with scaler(Board(), certificates=mutual) as port:
        root = certificates.certificate.read_bytes()
        where = f"localhost:{port.port}"
        async with aio.secure_channel(where, grpc.ssl_channel_credentials(root)) as channel:
            with pytest.raises(aio.AioRpcError):
                await Keda(channel).spec()
        shown = grpc.ssl_channel_credentials(root, certificates.key.read_bytes(), root)
        async with aio.secure_channel(where, shown) as channel:
            assert await Keda(channel).spec() == ("target", 1, 1.0)


def test_the_committed_code_is_what_protoc_makes(tmp_path: Path) -> None:
    """Make it anew: python -m grpc_tools.protoc -I. --python_out=generated --pyi_out=generated
    externalscaler.proto, in controlplane/adapters/keda.
    """
    arguments = ["", f"-I{KEDA_FOLDER}", f"--python_out={tmp_path}", f"--pyi_out={tmp_path}"]
    assert protoc.main([*arguments, "externalscaler.proto"]) == 0

    for name in ("externalscaler_pb2.py", "externalscaler_pb2.pyi"):
        made, kept = (tmp_path / name), (KEDA_FOLDER / "generated" / name)
        assert made.read_text("utf-8") == kept.read_text("utf-8")


@pytest.mark.parametrize("which", ["certificate", "key", "authority"])
async def test_files_that_hold_no_certificate_are_named(
    certificates: Certificates, which: str, tmp_path: Path
) -> None:
    (tmp_path / "rubbish.pem").write_text("rubbish")
    whole = replace(certificates, authority=certificates.certificate)
    for name, why in (("rubbish.pem", "cannot be used: "), ("none.pem", "cannot be read: No such")):
        wrong = replace(whole, **{which: tmp_path / name})
        port = ScalerPort(Board(), lambda: FLEET, Clock(), "127.0.0.1:0", wrong)
        with pytest.raises(OSError, match=f"^keda: .*{name}.* {why}"):
            await port.run()
