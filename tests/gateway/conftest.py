"""Both fronts: a real Envoy that asks the worker, and the worker as the proxy itself."""

from typing import Any

import pytest


@pytest.fixture(params=[{}, {"proxy": True}], ids=["envoy", "no envoy"])
def front(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Options of the gateway."""
    given: dict[str, Any] = request.param
    return given
