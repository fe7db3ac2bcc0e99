"""A long answer, read token by token: whoever cuts it is found out."""

from typing import Any

import aiohttp

TOKENS = 200


async def stream(url: str) -> int:
    """Read one; give how many tokens came, of `TOKENS`."""
    body: dict[str, Any] = {"model": "chat", "prompt": "x", "max_tokens": TOKENS, "stream": True}
    tokens = 0
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/completions", json=body) as answer,
    ):
        async for line in answer.content:
            tokens += line.startswith(b"data: {")
    return tokens
