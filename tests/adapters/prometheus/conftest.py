"""One Prometheus for all tests of a file; each test names its pods anew."""

from collections.abc import Iterator

import pytest

from tests.adapters.prometheus.server import Server, prometheus, ready


@pytest.fixture(scope="module")
def one_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with prometheus(tmp_path_factory.mktemp("prometheus")) as server:
        yield server


@pytest.fixture
async def server(one_server: Server) -> Server:
    await ready(one_server)
    return one_server
