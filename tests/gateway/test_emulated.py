"""`controlplane gateway up` before `controlplane emulate`: two commands, and a chat streams."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from tests.emulation.stand import free_port
from tests.gateway.running import OPEN, call
from tests.settings.fleet_text import SMALL

FLEET = SMALL.replace("classifier", "chat").replace("/chat:1", "/classifier:1")


@asynccontextmanager
async def command(*words: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a command until its first line; end it in good order."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controlplane", *words),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        assert await process.stdout.readline()
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


@pytest.mark.slow
async def test_a_chat_streams_through_the_gateway_from_an_emulated_engine(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet.yaml"
    fleet.write_text(FLEET)
    engine, port = str(free_port()), free_port()
    at = ("--engine", f"chat=127.0.0.1:{engine}", "--port", str(port), "--data", str(tmp_path))
    async with (
        command("emulate", "--model", "chat", "--port", engine, "--load-s", "0"),
        command("gateway", "up", str(fleet), *at),
    ):
        asked = {
            "model": "chat",
            "stream": True,
            "max_tokens": 8,
            "messages": [{"role": "user", "content": "hello"}],
        }
        made = await call(
            port,
            "/v1/chat/completions",
            body=msgspec.json.encode(asked),
            key=None,
            content_type="application/json",
        )
        reply = await made.reply()
        for one in OPEN:
            await one.over()
        OPEN.clear()
        assert reply.status == 200
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert reply.body.rstrip().endswith(b"data: [DONE]")
        assert reply.body.count(b"data: ") > 2
