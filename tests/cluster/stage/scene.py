"""What an end-to-end test begins with: the daemon's account, its folder, lanes and load."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.accounts import Account, daemon_account
from tests.cluster.api import Api
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes
from tests.cluster.stage.balancer import Balancer
from tests.cluster.stage.daemon import Daemon, serving
from tests.cluster.stage.histories import Histories
from tests.cluster.stage.lanes import Lanes


@dataclass(frozen=True)
class Scene:
    """One namespace, ready for a daemon."""

    cluster: Cluster
    api: Api
    nodes: Nodes
    namespace: str
    account: Account
    folder: Path
    lanes: Lanes

    @asynccontextmanager
    async def daemon(
        self, fleet: str, *options: str, name: str = "daemon"
    ) -> AsyncIterator[Daemon]:
        """Run a daemon; without options it acts."""
        said = options or ("--mode", "act")
        place = self.folder / name
        async with serving(place, fleet, self.account.kubeconfig, self.namespace, *said) as daemon:
            yield daemon

    def histories(self) -> Histories:
        """Give one who remembers every lane of every pod."""
        return Histories(self.api, self.namespace)

    def balancer(self) -> Balancer:
        """Give a load that goes through the model's Service."""
        return Balancer(self.api, self.namespace)


async def scene(cluster: Cluster, api: Api, nodes: Nodes, namespace: str, folder: Path) -> Scene:
    """Prepare a namespace with the access that we ship."""
    account = await daemon_account(api, cluster, namespace)
    return Scene(cluster, api, nodes, namespace, account, folder, Lanes(api, namespace))
