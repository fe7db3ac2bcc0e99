"""Waiting for what others do, seen only by looking: how long at most, and what was seen instead."""

import asyncio
from collections.abc import Awaitable, Callable

LOOKS_S = 0.05


async def until(
    holds: Callable[[], Awaitable[bool]],
    within_s: float,
    told: Callable[[], str] = lambda: "it did not come about",
) -> None:
    """Look again and again until it holds."""
    try:
        async with asyncio.timeout(within_s):
            while True:
                if await holds():
                    return
                await asyncio.sleep(LOOKS_S)
    except TimeoutError:
        raise AssertionError(f"{told()} after {within_s:g} s") from None
