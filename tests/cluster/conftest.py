"""What tests of the cluster are handed. It is up before them, in another process."""

import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from secrets import token_hex

import pytest
from kubernetes_asyncio import client, config

from tests.cluster.api import Api
from tests.cluster.audit import Audit
from tests.cluster.handed import Cluster, handed
from tests.cluster.namespace import whole_root
from tests.cluster.nodes import Nodes, namespace_of
from tests.cluster.programs import KEDA, MissingError, found
from tests.cluster.stage.scene import Scene, scene

_NUMBERS = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A cluster takes its time: a node is believed dead after 20 s, and machines may be busy."""
    for item in items:
        if item.path.parent == Path(__file__).parent and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(240))


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """Give the cluster around us."""
    found = handed()
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture
async def api(cluster: Cluster) -> AsyncIterator[Api]:
    """Give an administrator's caller, in plain JSON."""
    async with cluster.api() as caller:
        yield caller


@pytest.fixture
async def kubernetes(cluster: Cluster) -> AsyncIterator[client.ApiClient]:
    """Give an administrator's caller of the library that the product uses."""
    made = await config.new_client_from_config(str(cluster.admin_kubeconfig))
    async with made:
        yield made


@pytest.fixture
async def namespace(api: Api) -> AsyncIterator[str]:
    """Give a namespace of this test's own; all in it goes with it."""
    name = f"t{next(_NUMBERS)}-{token_hex(2)}"  # a cluster may outlive a run of tests
    await api.create(namespace_of(name))
    yield name
    await api.delete(f"/api/v1/namespaces/{name}")
    await api.delete(f"/api/v1/namespaces/{name}/pods", grace_s=0)


@pytest.fixture
async def nodes(api: Api, namespace: str) -> AsyncIterator[Nodes]:
    """Give nodes to this test; they go with it, and so do the processes on them."""
    made = Nodes(api, namespace)
    yield made
    await made.clear()


@pytest.fixture
async def stage(
    cluster: Cluster, api: Api, nodes: Nodes, namespace: str, tmp_path: Path, audit: Audit
) -> AsyncIterator[Scene]:
    """Give a namespace with the daemon's account, ready for a daemon; a forbidden call fails it."""
    made = await scene(cluster, api, nodes, namespace, tmp_path)
    yield made
    # ScaledObjects are for those to grant who have KEDA; without it the daemon says so and goes on.
    assert [one for one in audit.lacked(made.account.user) if "scaledobjects" not in one] == []


@pytest.fixture
def audit(cluster: Cluster) -> Audit:
    """Give what the API server is asked from here on."""
    return Audit(cluster.audit_log)


@pytest.fixture
def mounts() -> None:
    """Have containers with volumes: their file system lies over that of the machine."""
    if not whole_root():
        pytest.skip("volumes of pods: only root may lay a file system over /")


@pytest.fixture
async def keda(cluster: Cluster) -> None:
    """Have a real KEDA; it stays up for the tests after this one."""
    try:
        found(KEDA)
    except MissingError as error:
        pytest.skip(str(error))
    await cluster.start_keda()
