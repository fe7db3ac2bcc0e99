"""Every kind of object we render is taken by a real API server that checks strictly."""

import pytest

from tests.cluster.api import Api
from tests.render.golden_files import RENDERED


@pytest.mark.parametrize("name", RENDERED)
async def test_the_api_server_takes_what_is_rendered(api: Api, namespace: str, name: str) -> None:
    manifest = RENDERED[name]()
    assert manifest is not None
    manifest["metadata"]["namespace"] = namespace

    taken = await api.apply(manifest, manager="controlplane")

    assert taken["metadata"]["name"] == manifest["metadata"]["name"]
