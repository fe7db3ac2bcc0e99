"""How the API server is found: a kubeconfig, or the service account inside the cluster."""

import asyncio
from pathlib import Path

from kubernetes_asyncio.client import ApiClient, Configuration
from kubernetes_asyncio.config import ConfigException
from kubernetes_asyncio.config.incluster_config import InClusterConfigLoader
from kubernetes_asyncio.config.kube_config import KubeConfigLoader

from controlplane.adapters.kubernetes.kubeconfig import AddressError, opened, renewed
from controlplane.adapters.kubernetes.last_look import looking

__all__ = ["AddressError", "Door", "connect", "own_namespace"]

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
NAMESPACE = "controlplane"  # where nothing says another


class Door:
    """A client of one API server, whose credentials are renewed when they run out."""

    def __init__(self, client: ApiClient, loader: KubeConfigLoader | None) -> None:
        """Keep the client, and what renews its token (only an exec plugin does)."""
        self.client = client
        self._loader = loader
        self._renewing = asyncio.Lock()

    @property
    def host(self) -> str:
        """Give the API server's address."""
        return str(self.client.configuration.host)

    async def renew(self) -> None:
        """Run the kubeconfig's exec plugin again, if it has one and its token has run out."""
        if self._loader is None:
            return
        async with self._renewing:  # one run serves all who wait
            await renewed(self._loader)
        if hasattr(self._loader, "token"):
            self.client.configuration.api_key["BearerToken"] = self._loader.token

    async def close(self) -> None:
        """Close its connections."""
        await self.client.close()


async def connect(kubeconfig: Path | None) -> Door:
    """Give a door to the API server of a kubeconfig, or of the cluster this runs in."""
    configuration = Configuration()
    loader = None
    if kubeconfig is None:
        _inside(configuration)
    else:
        loader = await opened(kubeconfig, configuration)
    try:
        client = ApiClient(configuration)
    except OSError as cause:  # also ssl.SSLError: a certificate or key that cannot be used
        where = f"kubeconfig: {kubeconfig}" if kubeconfig else str(ACCOUNT)
        raise AddressError(f"{where}: its certificates cannot be used: {cause}") from cause
    client.user_agent = "controlplane"
    client.rest_client.pool_manager = looking(client.rest_client.pool_manager)
    return Door(client, loader)


def own_namespace(given: str | None, account: Path = ACCOUNT) -> str:
    """Give the namespace to work in: the one given, the service account's, else the usual."""
    if given:
        return given
    try:
        return (account / "namespace").read_text("utf-8").strip() or NAMESPACE
    except OSError:
        return NAMESPACE


def _inside(configuration: Configuration) -> None:
    try:
        loader = InClusterConfigLoader(
            token_filename=str(ACCOUNT / "token"), cert_filename=str(ACCOUNT / "ca.crt")
        )
        loader.load_and_set(configuration)  # the token is read again every minute
    except ConfigException as cause:
        raise AddressError(
            f"kubeconfig: none was given and this is no pod of a cluster ({cause}); "
            "give --kubeconfig FILE, e.g. ~/.kube/config"
        ) from cause
