"""gRPC's own client against our server, on real sockets."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from controlplane.gateway.http2.frames import PREFACE, Kind, frame
from controlplane.gateway.http2.framing import LONGEST_MESSAGE
from controlplane.gateway.http2.server import Server
from tests.emulation.stand import free_port
from tests.gateway.http2.peers import ECHO, Echoes

UNBOUNDED = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_retries", 0),
)


@pytest.fixture(params=["unix", "tcp"])
def listen(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"unix:{tmp_path}/s" if request.param == "unix" else f"127.0.0.1:{free_port()}"


class Both:
    """Server and client."""

    def __init__(self, listen: str) -> None:
        self.echoes = Echoes()
        self.server = Server({ECHO: self.echoes})
        self.channel = grpc.aio.insecure_channel(listen, options=UNBOUNDED)
        self.echo: Any = self.channel.stream_stream(ECHO)

    async def ended(self) -> list[str]:
        """Give how calls ended, as soon as one has."""
        async with asyncio.timeout(10):
            while not self.echoes.ends:  # noqa: ASYNC110  # the peer's reset is on its way
                await asyncio.sleep(0.01)
        return self.echoes.ends


@asynccontextmanager
async def serving(listen: str) -> AsyncIterator[Both]:
    both = Both(listen)
    await both.server.start(listen)
    try:
        yield both
    finally:
        await both.channel.close()
        await both.server.stop(0.2)


async def connected(listen: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if listen.startswith("unix:"):
        return await asyncio.open_unix_connection(listen[5:])
    return await asyncio.open_connection(*listen.split(":"))


async def code(call: Any) -> grpc.StatusCode:
    """Read a call to its end, and give how it ended."""
    with contextlib.suppress(grpc.aio.AioRpcError):
        async for _ in call:
            pass
    ended: grpc.StatusCode = await call.code()
    return ended


async def test_messages_of_any_size_go_both_ways(listen: str) -> None:
    sent = [bytes([n % 256]) * size for n, size in enumerate((0, 1, 16_384, 1 << 20, 3 << 20))]
    async with serving(listen) as both:
        got = [message async for message in both.echo(iter(sent))]
        assert got == sent


async def test_many_calls_at_once_each_get_their_own_answer(listen: str) -> None:
    async with serving(listen) as both:

        async def one(n: int) -> bool:
            sent = [f"{n} {i}".encode() for i in range(3)]
            return [message async for message in both.echo(iter(sent))] == sent

        assert all(await asyncio.gather(*(one(n) for n in range(500))))
        assert both.echoes.ends == ["closed"] * 500


@pytest.mark.parametrize(
    ("path", "message", "more", "code"),
    [
        (f"{ECHO}s", None, {}, grpc.StatusCode.UNIMPLEMENTED),
        (ECHO, b"x" * 1000, {"compression": grpc.Compression.Gzip}, grpc.StatusCode.UNIMPLEMENTED),
        (ECHO, bytes(LONGEST_MESSAGE + 1), {}, grpc.StatusCode.RESOURCE_EXHAUSTED),
        (ECHO, b"break", {}, grpc.StatusCode.UNKNOWN),
    ],
    ids=["unknown", "compressed", "too long", "served by a fault"],
)
async def test_what_cannot_be_served_is_told_by_its_status(
    path: str, message: bytes | None, more: dict[str, Any], code: grpc.StatusCode, listen: str
) -> None:
    """An unknown path is refused by the headers alone: a message that is still being sent then
    fails in this client, which calls it INTERNAL."""
    async with serving(listen) as both:
        sent = None if message is None else iter([message])
        call = both.channel.stream_stream(path)(sent, **more)
        assert await call.code() == code
        assert [m async for m in both.echo(iter([b"and on"]))] == [b"and on"]


async def test_a_client_that_cancels_is_noticed_at_once(listen: str) -> None:
    async with serving(listen) as both:
        call = both.echo()
        await call.write(b"here")
        assert await call.read() == b"here"
        call.cancel()
        assert await both.ended() == ["lost"]


async def test_when_it_stops_calls_under_way_end_well_and_new_ones_are_refused(listen: str) -> None:
    async with serving(listen) as both:
        call = both.echo()
        await call.write(b"here")
        assert await call.read() == b"here"
        stopping = asyncio.create_task(both.server.stop(10.0))
        async with asyncio.timeout(10):
            while await code(both.echo(iter([b"late"]))) != grpc.StatusCode.UNAVAILABLE:
                pass  # the client has not heard of it yet
        assert not stopping.done()
        await call.write(b"still")
        assert await call.read() == b"still"
        await call.done_writing()
        assert await call.code() == grpc.StatusCode.OK
        await asyncio.wait_for(stopping, 5)


async def test_calls_that_outlast_the_grace_are_lost(listen: str) -> None:
    async with serving(listen) as both:
        call = both.echo()
        await call.write(b"here")
        await call.read()
        await asyncio.wait_for(both.server.stop(0.05), 5)
        assert await call.code() == grpc.StatusCode.UNAVAILABLE
        assert await both.ended() == ["lost"]


async def test_who_never_reads_is_not_read_any_more(listen: str) -> None:
    """Else whoever pings without end would fill our memory with answers."""
    async with serving(listen) as both:
        _, writer = await connected(listen)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        pings = frame(Kind.PING, 0, 0, bytes(8)) * 4096
        writer.write(PREFACE + frame(Kind.SETTINGS, 0, 0))
        sent = 0
        with contextlib.suppress(TimeoutError):
            while sent < 1 << 28:
                writer.write(pings)
                sent += len(pings)
                await asyncio.wait_for(writer.drain(), 1.0)
        assert sent < 1 << 28
        writer.transport.abort()
        assert [m async for m in both.echo(iter([b"and on"]))] == [b"and on"]


async def test_a_connection_that_breaks_the_rules_is_told_and_closed(listen: str) -> None:
    async with serving(listen) as both:
        reader, writer = await connected(listen)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        told = await asyncio.wait_for(reader.read(), 5)
        writer.close()
        assert told.endswith(b"not HTTP/2")
        assert [m async for m in both.echo(iter([b"and on"]))] == [b"and on"]
