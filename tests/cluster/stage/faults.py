"""Emulated engines in pods that go wrong when a test says so, and are well again."""

from typing import Any

import aiohttp

from tests.cluster.api import Manifest


async def fault(pods: list[Manifest], **faults: Any) -> None:
    """Let engines go wrong, or be well again."""
    async with aiohttp.ClientSession() as session:
        for pod in pods:
            place = f"http://{pod['status']['podIP']}:8000/emulation/faults"
            async with session.post(place, json=faults) as answer:
                answer.raise_for_status()
