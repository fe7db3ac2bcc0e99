"""What holds for every test."""

import asyncio
import inspect

import pytest


@pytest.fixture(autouse=True)
def _no_loop_where_none_is_needed(request: pytest.FixtureRequest) -> None:
    """looptime asks for the loop of every test; asked in a plain one, asyncio makes one.

    Nobody would close it, and its warning would fail some other test.
    """
    if not inspect.iscoroutinefunction(getattr(request, "function", None)):
        asyncio.get_event_loop_policy().set_event_loop(None)
