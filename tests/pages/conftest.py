"""The painted fleet behind the real application, without a browser."""

import asyncio
from dataclasses import replace
from typing import TypeAlias

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from pytest_aiohttp.plugin import AiohttpClient

from controlplane.http.app import make_app
from controlplane.http.shared import Shared
from controlplane.http.state import State
from controlplane.loops.in_memory import MemoryAuditLog, MemoryOverrides
from tests.browser.scene import painted_state

Client: TypeAlias = TestClient[web.Request, web.Application]


@pytest.fixture(scope="session")
def painted() -> State:
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(painted_state())
    finally:
        loop.close()


@pytest.fixture
def state(painted: State) -> State:
    """Give the scene with nothing set by hand and nothing computed yet."""
    audit = MemoryAuditLog()
    return replace(painted, shared=Shared(), audit=audit, overrides=MemoryOverrides(audit))


@pytest.fixture
async def client(aiohttp_client: AiohttpClient, state: State) -> Client:
    return await aiohttp_client(make_app(state))
