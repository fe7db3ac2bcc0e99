"""A gateway on a real Envoy (or without), engines behind it, clients before it."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from controlplane.decide.breakers.breaker import Breaker
from controlplane.domain.decisions import Choice
from controlplane.domain.gateway import ApiKey, Endpoint, GatewayPlan, ServedModel
from controlplane.domain.policies import AdmissionPolicy, BreakerPolicy
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import ModelName, ReplicaName
from controlplane.gateway.gateway import Gateway
from controlplane.gateway.site import GatewayOptions
from tests.emulation.stand import free_port
from tests.gateway.engine import Engine

Front: TypeAlias = dict[str, Any]
CHAT = ModelName("chat")
OPEN: "list[Call]" = []  # closed when the gateway has stopped
WITHIN_S = 20.0


def a_key(secret: str, priority: Priority, **more: Any) -> ApiKey:
    digest = sha256(secret.encode()).hexdigest()
    return ApiKey(secret_hash=digest, name=secret, priority=priority, **more)


KEYS = tuple(a_key(f"key-{priority}", priority) for priority in PRIORITIES)


def endpoint(
    engine: Engine, slots: int = 2, name: str = "r0", *, lending: bool = False
) -> Endpoint:
    return Endpoint(
        replica=ReplicaName(name), host="127.0.0.1", port=engine.port, slots=slots, lending=lending
    )


def a_model(
    *endpoints: Endpoint, name: str = CHAT, breaker: BreakerPolicy | None = None, **admission: Any
) -> ServedModel:
    return ServedModel(
        name=ModelName(name),
        endpoints=endpoints,
        admission=AdmissionPolicy(**{"reserve": 0, **admission}),
        breaker=breaker or BreakerPolicy(),
        service_s=0.1,
    )


def a_plan(*models: ServedModel, **more: Any) -> GatewayPlan:
    return GatewayPlan(models=models, keys=KEYS, **more)


class Running:
    """A gateway that runs, and what it told."""

    def __init__(
        self, folder: Path, states: Mapping[ModelName, Breaker] | None = None, **options: Any
    ) -> None:
        self.options = GatewayOptions(
            folder=folder, **{"port": free_port(), "concurrency": 1, "grace_s": 2.0, **options}
        )
        self.states = states
        self.breaches: list[tuple[str, str]] = []
        self.choices: list[Choice] = []
        self.gateway = self.another()

    def another(self) -> Gateway:
        """The same gateway as another daemon would run it."""
        return Gateway(
            self.options,
            breach=lambda model, why: self.breaches.append((model, why)),
            changed=self.choices.append,
            states=self.states,
        )

    @property
    def port(self) -> int:
        return self.options.port

    def counted(self, what: str, model: str = CHAT) -> list[int]:
        tallies = self.gateway.counts.sums().get(model)
        return [0, 0, 0] if tallies is None else [getattr(t, what) for t in tallies]

    def refused(self, model: str = CHAT) -> dict[str, int]:
        found: dict[str, int] = {}
        for tally in self.gateway.counts.sums().get(model, ()):
            for code, count in tally.refused.items():
                found[code] = found.get(code, 0) + count
        return found

    async def until(self, holds: Callable[[], object], within_s: float = WITHIN_S) -> None:
        """Wait for what the workers report."""
        async with asyncio.timeout(within_s):
            while not holds():  # noqa: ASYNC110  # workers report from other processes
                await asyncio.sleep(0.02)

    async def quiet(self) -> None:
        """Wait until nobody waits or runs."""

        def still() -> bool:
            sums = self.gateway.counts.sums().values()
            return not any(t.queued or t.running for tallies in sums for t in tallies)

        await self.until(still)


@asynccontextmanager
async def running(folder: Path, plan: GatewayPlan, **options: Any) -> AsyncIterator[Running]:
    run = Running(folder, **options)
    await run.gateway.start(plan)
    try:
        yield run
    finally:
        await run.gateway.stop()
        for made in OPEN:
            await made.over()
        OPEN.clear()


class Reply(msgspec.Struct):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Call:
    """One request on a raw socket, so that its client can leave in every way there is."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def reply(self) -> Reply:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value
            for name, _, value in (line.partition(": ") for line in head[1:] if line)
        }
        if headers.get("transfer-encoding") == "chunked":
            body = await self.chunks()
        else:
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return Reply(int(head[0].split()[1]), headers, body)

    async def chunks(self) -> bytes:
        body = b""
        while size := int(await self.reader.readline(), 16):
            body += await self.reader.readexactly(size)
            await self.reader.readline()
        await self.reader.readline()
        return body

    async def first_byte(self) -> bytes:
        return await self.reader.readuntil(b"\r\n\r\n")

    async def over(self) -> None:
        """Leave nothing open behind the test."""
        self.writer.transport.abort()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()

    def fin(self) -> None:
        """Close in good order."""
        self.writer.close()

    def rst(self) -> None:
        """Reset the connection."""
        sock = self.writer.get_extra_info("socket")
        linger = (1).to_bytes(4, "little") + (0).to_bytes(4, "little")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()


async def call(
    port: int,
    path: str = f"/models/{CHAT}/v1/completions",
    *,
    how: str = "at-once",
    body: bytes = b"",
    key: str | None = "key-high",
    chunked: bool = False,
    **headers: str,
) -> Call:
    """Send a request; the answer is read when it is asked for. Chunked, nobody says its length."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    given = {
        "host": "gateway",
        "x-how": how,
        **({"transfer-encoding": "chunked"} if chunked else {"content-length": str(len(body))}),
        **({"authorization": f"Bearer {key}"} if key is not None else {}),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    if chunked:
        body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + b"0\r\n\r\n"
    writer.write(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body)
    made = Call(reader, writer)
    OPEN.append(made)
    return made


async def ask(port: int, path: str = f"/models/{CHAT}/v1/completions", **more: Any) -> Reply:
    """Send a request and give its answer."""
    made = await call(port, path, **more)
    try:
        return await made.reply()
    finally:
        made.fin()
