"""A daemon's HTTP side on in-memory stores: a small fleet, some decisions, a ledger."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from pytest_aiohttp.plugin import AiohttpClient

from controlplane.clock import Clock
from controlplane.decide.replay import decide_again
from controlplane.decide.scaling.decision import decide_scale
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Choice, Standing
from controlplane.domain.fleet import FleetView, Node
from controlplane.domain.ledger import LedgerRow, LineKind
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import Micros, ModelName, NodeName, Team, Zone
from controlplane.domain.replicas import Lane, Phase, Stage
from controlplane.http.access import Role
from controlplane.http.app import make_app
from controlplane.http.auth import new_secret, secret_hash
from controlplane.http.state import CatalogueInForce, State
from controlplane.loops.in_memory import (
    MemoryAuditLog,
    MemoryCatalogues,
    MemoryJournal,
    MemoryLedger,
    MemoryOverrides,
    MemoryTokens,
    SoleLeader,
)
from controlplane.ports import CatalogueVersion, RunCourse, RunProgress, Token
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.history import History, Point
from tests.builders import (
    A100,
    CHAT,
    a_catalogue,
    a_class_load,
    a_load,
    a_model,
    a_replica,
    an_input,
)

T0 = 1_800_000_000.0  # 2027-01-15 08:00 UTC
SMALL = ModelName("small")
API_OVERRIDE = "/api/v1/overrides/chat"
Client = TestClient[web.Request, web.Application]
Opened = Callable[..., Awaitable[Client]]


class Runs:
    """What-if runs that are started and cancelled, but never get far."""

    def __init__(self) -> None:
        self._runs: dict[str, RunProgress] = {}

    async def start(self, scenario: str, policy: str, seed: int) -> RunProgress:
        if policy == "nonsense":
            raise ValueError("policy: 'nonsense' is not known")
        run = RunProgress(
            id=f"{len(self._runs) + 1}",
            scenario=scenario,
            policy=policy,
            seed=seed,
            state="running",
        )
        self._runs[run.id] = run
        return run

    async def runs(self) -> list[RunProgress]:
        return list(self._runs.values())[::-1]

    async def courses(self, run: str) -> dict[ModelName, RunCourse]:
        assert run in self._runs
        return {ModelName("chat"): a_course()}

    async def cancel(self, run: str) -> None:
        self._runs[run] = msgspec.structs.replace(self._runs[run], state="cancelled")


def a_course() -> RunCourse:
    """Two moments; what is not known is a gap."""
    return RunCourse(
        at=(0.0, 18.0),
        arrivals={"high": (None, 200.0)},
        queue={"high": (0.0, 3.0)},
        wait_p99={"high": (None, 0.05)},
        drain_s=(0.0, 0.1),
        lanes={"serving": (4, 4)},
        target=(4, 5),
        wait_limits={"high": 0.1},
    )


def a_view(at: float = T0) -> FleetView:
    """Two A100 nodes of four devices; chat serves 2, keeps 1 warm, loads 1 that finds no place."""
    nodes = tuple(
        Node(name=NodeName(name), node_class=A100, zone=Zone(zone), devices=4)
        for name, zone in (("a100-01", "zone-a"), ("a100-02", "zone-b"))
    )
    replicas = (
        a_replica("chat-1", created_at=T0 - 900),
        a_replica("chat-2", created_at=T0 - 800),
        a_replica("chat-3", Lane.WARM, created_at=T0 - 700, node=NodeName("a100-02")),
        a_replica(
            "chat-4",
            Lane.LOADING,
            phase=Phase.PENDING,
            stage=Stage.UNSCHEDULED,
            node=None,
            zone=None,
            created_at=T0 - 60,
            unschedulable_since=T0 - 55,
            note="0/2 nodes fit",
        ),
    )
    return FleetView(at=at, nodes=nodes, replicas=replicas)


def a_point(at: float, serving: int = 2, wait: float | None = 0.02, **more: Any) -> Point:
    given: dict[str, Any] = {
        "at": at,
        "arrivals": dict.fromkeys(PRIORITIES, 10.0),
        "queue": dict.fromkeys(PRIORITIES, 0.0),
        "wait_p99": dict.fromkeys(PRIORITIES, wait),
        "latency_p99": dict.fromkeys(PRIORITIES, None),
        "drain_s": 1.5,
        "memory": 0.5,
        "utilisation": 0.5,
        "lanes": {Lane.SERVING: serving, Lane.WARM: 1},
        "target": 2,
    }
    return Point(**{**given, **more})


def a_history() -> History:
    history = History()
    history.view = a_view()
    load = a_load(
        a_class_load(12.0, 3.0, wait=0.02, at=T0),
        a_class_load(8.0, 0.0, wait=0.9, at=T0),  # beyond its 0.8 s
        a_class_load(0.0, 0.0, at=T0),
        at=T0,
        kv=0.6,
    )
    history.loads = {CHAT: load}
    history.plan = {CHAT: Standing(replicas=2, split={A100: 2}, since=T0 - 600, slo_broken=True)}
    for index in range(60):
        history.add(CHAT, a_point(T0 - 300 + 5 * index))
    return history


def a_decision(queue: float) -> Choice:
    """What scaling decides on that queue, input and all."""
    load = a_load(a_class_load(10.0, queue, at=T0), at=T0)
    return decide_scale(an_input(load, target=2))


def a_fleet_file() -> Catalogue:
    return a_catalogue({CHAT: a_model(60.0), SMALL: a_model(8.0, importance=7)}, t4_nodes=1)


def a_minute(start: float, device: int, kind: LineKind, micros: int, **more: Any) -> LedgerRow:
    given: dict[str, Any] = {
        "start": start,
        "end": start + 60.0,
        "node": NodeName("a100-01"),
        "device": device,
        "node_class": A100,
        "zone": Zone("zone-a"),
        "kind": kind,
        "micros": Micros(micros),
        "price_micros_per_hour": Micros(3_000_000),
    }
    return LedgerRow(**{**given, **more})


@pytest.fixture
async def state() -> State:
    """A tokenless daemon on loopback."""
    audit = MemoryAuditLog()
    journal, ledger, catalogues = MemoryJournal("test-world"), MemoryLedger(), MemoryCatalogues()
    await journal.open("scaling", [a_decision(queue=0.0)], T0 - 600, 1)
    await journal.open("scaling", [a_decision(queue=9_000.0)], T0 - 30, 1)
    await ledger.write(
        [
            a_minute(T0 - 120, 0, LineKind.SERVING, 50_000, model=CHAT, team=Team("text")),
            a_minute(T0 - 120, 1, LineKind.SERVING, 20_000, model=CHAT, team=Team("text")),
            a_minute(T0 - 120, 1, LineKind.IDLE, 30_000),
            a_minute(T0 - 60, 0, LineKind.WARM, 50_000, model=CHAT, team=Team("=text")),
        ]
    )
    first = await catalogues.add("currency: USD\n", "fleet.yaml", "file", T0 - 7200)
    catalogue = a_fleet_file()
    in_force = CatalogueInForce(catalogue, first)

    def validate(text: str, source: str) -> Catalogue:
        if "min: 9" in text:
            raise ValueError(f"{source}:3: models.chat.min: 9: must be at most max (8)")
        return catalogue

    async def apply(text: str, source: str, by: str) -> CatalogueVersion:
        validate(text, source)
        in_force.version = await catalogues.add(text, source, by, T0)
        return in_force.version

    return State(
        clock=Clock(start=T0),
        world="test-world",
        cluster="test",
        acting=True,
        leadership=SoleLeader("cp-0"),
        history=a_history(),
        heartbeats=Heartbeats(),
        in_force=in_force,
        decisions=journal,
        replay=decide_again,
        ledger=ledger,
        overrides=MemoryOverrides(audit),
        catalogues=catalogues,
        tokens=MemoryTokens(),
        audit=audit,
        whatif=Runs(),
        validate=validate,
        apply_catalogue=apply,
        scenarios={"seed-000": "Two bursts of low."},
        policies=("controlplane", "hpa:0.7"),
    )


@pytest.fixture
def opened(aiohttp_client: AiohttpClient) -> Opened:
    """Open the API of a state, and give a client of it; `pages` are left out unless asked for."""

    async def open_(state: State, **changes: Any) -> Client:
        return await aiohttp_client(make_app(replace(state, **changes), pages=None))

    return open_


@pytest.fixture
async def client(opened: Opened, state: State) -> Client:
    return await opened(state)


async def a_token(state: State, role: Role, **more: Any) -> dict[str, str]:
    """Make a token of that role and give the header that carries it."""
    secret = new_secret()
    given: dict[str, Any] = {"name": f"{role}-token", "role": str(role), "created_at": T0, **more}
    await state.tokens.add(Token(**given), secret_hash(secret))
    return {"Authorization": f"Bearer {secret}"}


async def raw(client: Client, head: bytes) -> bytes:
    """Send a head no client library would, and give the answer as it came."""
    reader, writer = await asyncio.open_connection(client.host, client.port)
    host = f"Host: {client.host}:{client.port}".encode()
    writer.write(b"\r\n".join((head, host, b"Connection: close", b"", b"")))
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer
