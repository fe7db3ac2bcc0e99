"""The implementations of the store's ports: in memory, and a real SQLite file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from controlplane.adapters.sql.opening import open_store
from tests.contracts.books import Books, books_in_memory, books_of


@pytest.fixture(params=["memory", "sqlite"])
async def books(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Books]:
    """A store that was never written to."""
    if request.param == "memory":
        yield books_in_memory()
        return
    async with open_store(tmp_path, "world-1", create=True) as store:
        yield books_of(store)
