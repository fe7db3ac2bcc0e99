"""An engine that speaks HTTPS with a certificate of its own, as MindIE does by default."""

import asyncio
import shutil
from pathlib import Path

import pytest

from controlplane.domain.quantities import ReplicaName
from controlplane.domain.serving import Serving
from controlplane.ports import EngineAt
from tests.adapters.engines.watching import load_when, state_when, watched
from tests.builders import A100, CHAT
from tests.emulation.stand import engine_process


@pytest.fixture
async def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate that nobody has signed, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = await asyncio.create_subprocess_exec(
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
        "-subj", "/CN=engine", "-keyout", key, "-out", cert,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert await made.wait() == 0
    return cert, key


async def test_it_is_asked_warmed_up_and_measured_like_any_other(
    certificate: tuple[Path, Path],
) -> None:
    cert, key = certificate
    tls = ("--tls-cert", str(cert), "--tls-key", str(key), "--cold-requests", "0")
    async with engine_process("--engine", "mindie", *tls) as process:
        engine = EngineAt(
            replica=ReplicaName("chat-1"),
            model=CHAT,
            node_class=A100,
            host="127.0.0.1",
            serving=Serving(engine="mindie", port=process.port, tls=True),
            serves=True,
            started="1",
        )
        async with watched([engine]) as fleet:
            await state_when(fleet, lambda state: state.healthy)
            await fleet.warm_up(engine.replica, 4)
            await state_when(fleet, lambda state: state.warmed_up)

            await load_when(fleet, lambda _, c: c.queue.x == 0.0)
