"""How the API server is found: a kubeconfig, or the service account inside the cluster.

Whatever is wrong with a kubeconfig is said in one sentence that names the file and the fault.
"""

import asyncio
import os
from pathlib import Path

from kubernetes_asyncio.client import ApiClient, Configuration
from kubernetes_asyncio.config import ConfigException, load_kube_config
from kubernetes_asyncio.config.incluster_config import InClusterConfigLoader
from kubernetes_asyncio.config.kube_config import KubeConfigLoader

from controlplane.adapters.kubernetes.last_look import looking
from controlplane.ports import UnavailableError

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
EXEC_S = 30.0
NAMESPACE = "controlplane"  # where nothing says another
_LIBRARYS = "Invalid kube-config file. "  # a sentence of its own, before the one that says why


class AddressError(Exception):
    """The API server cannot be found by what was given; one sentence for people."""


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
        user = getattr(self._loader, "_user", None)
        if self._loader is None or user is None or "exec" not in user:
            return
        try:
            async with self._renewing, asyncio.timeout(EXEC_S):  # one run serves all who wait
                await self._loader.load_from_exec_plugin()
        except (ConfigException, OSError, TimeoutError) as cause:
            said = " ".join(str(cause).split()) or f"no answer within {EXEC_S:g} s"
            raise UnavailableError(f"kubeconfig: its credentials program failed: {said}") from cause
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
        loader = await _outside(_file(kubeconfig), configuration)
    try:
        client = ApiClient(configuration)
    except OSError as cause:  # also ssl.SSLError: a certificate or key that cannot be used
        where = kubeconfig or ACCOUNT
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


def _file(path: Path) -> Path:
    path = path.expanduser()
    if not path.is_file():
        raise AddressError(f"kubeconfig: there is no file {path}")
    if not os.access(path, os.R_OK):
        raise AddressError(f"kubeconfig: {path} may not be read; ls -l {path} shows its owner")
    return path


async def _outside(path: Path, configuration: Configuration) -> KubeConfigLoader:
    shown = f"kubectl config view --kubeconfig {path} shows what it says"
    try:
        loader = await load_kube_config(
            str(path), client_configuration=configuration, persist_config=False
        )
    except ConfigException as cause:
        said = str(cause).removeprefix(_LIBRARYS).rstrip(". ")
        raise AddressError(f"kubeconfig: {path} cannot be used: {said}; {shown}") from cause
    except Exception as cause:  # whatever a file that is no kubeconfig makes of the library
        said = " ".join(str(cause).split())[:200] or type(cause).__name__
        raise AddressError(f"kubeconfig: {path} is no kubeconfig ({said}); {shown}") from cause
    host = str(configuration.host)
    if "server" not in (getattr(loader, "_cluster", None) or {}):
        raise AddressError(f"kubeconfig: {path} names no server; it is clusters[].cluster.server")
    if not host.startswith(("https://", "http://")):
        raise AddressError(f"kubeconfig: {path}: server {host!r} is no https:// address")
    return loader
