"""A real KEDA beside the plane: its operator, and its adapter that the API server asks."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from tests.cluster.api import Api, Manifest
from tests.cluster.child import Child
from tests.cluster.credentials import Credentials, sign
from tests.cluster.manifests import define

NAMESPACE = "keda"
_ADAPTER = "10.244.255.1"  # an address of the namespace that no node gives to a pod
_SPACES = {"POD_NAMESPACE": NAMESPACE, "WATCH_NAMESPACE": ""}


class Keda:
    """Two processes, and the objects that make the API server find them."""

    def __init__(self, home: Path, programs: Mapping[str, Path], credentials: Credentials) -> None:
        certificates = _certificates(home / "keda", credentials)
        kubeconfig = str(credentials.kubeconfig("tests:keda"))
        self._children = [
            Child(
                _operator(programs["keda-operator"], kubeconfig, certificates),
                home / "keda-operator.log",
                {**_SPACES, "KEDA_CLUSTER_OBJECT_NAMESPACE": NAMESPACE},
            ),
            Child(
                _adapter(programs["keda-adapter"], kubeconfig, certificates),
                home / "keda-adapter.log",
                {**_SPACES, "KUBECONFIG": kubeconfig},
            ),
        ]

    async def start(self, api: Api) -> None:
        """Bring it up; give back when the API server can ask it for metrics."""
        await define(api, "keda")
        for manifest in _OBJECTS:
            await api.apply(manifest)
        for child in self._children:
            await child.start()
        waiting = asyncio.create_task(
            api.until(
                "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.external.metrics.k8s.io",
                _available,
                timeout_s=60,
            )
        )
        while not waiting.done():
            for child in self._children:
                child.check()
            await asyncio.wait([waiting], timeout=0.2)
        await waiting

    async def stop(self) -> None:
        """Stop both."""
        for child in reversed(self._children):
            await child.stop()


def _certificates(folder: Path, credentials: Credentials) -> Path:
    """Give the folder both want: one certificate to serve and to call with, and who signed it."""
    folder.mkdir()
    home = credentials.home
    sign(home, "keda", "ca", "DNS:localhost,DNS:keda-operator.keda.svc,IP:127.0.0.1")
    for name, source in (("ca.crt", "ca.crt"), ("tls.crt", "keda.crt"), ("tls.key", "keda.key")):
        (folder / name).write_bytes((home / source).read_bytes())
    return folder


def _operator(program: Path, kubeconfig: str, certificates: Path) -> list[str]:
    return [
        str(program), f"--kubeconfig={kubeconfig}", f"--cert-dir={certificates}",
        "--metrics-bind-address=127.0.0.1:9667", "--health-probe-bind-address=127.0.0.1:9668",
        "--metrics-service-bind-address=127.0.0.1:9666",
    ]  # fmt: skip


def _adapter(program: Path, kubeconfig: str, certificates: Path) -> list[str]:
    return [
        str(program), "--secure-port=6444", f"--bind-address={_ADAPTER}",
        f"--cert-dir={certificates}", f"--tls-cert-file={certificates}/tls.crt",
        f"--tls-private-key-file={certificates}/tls.key",
        f"--client-ca-file={certificates}/ca.crt", f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}", f"--lister-kubeconfig={kubeconfig}",
        "--metrics-service-address=localhost:9666",
    ]  # fmt: skip


def _available(service: Manifest) -> bool:
    said = service.get("status", {}).get("conditions", ())
    return any(c["type"] == "Available" and c["status"] == "True" for c in said)


_NAME = "keda-operator-metrics-apiserver"
_PORT = {"name": "https", "port": 6444, "protocol": "TCP"}
_OBJECTS: list[Manifest] = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
    {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": _NAME, "namespace": NAMESPACE},
        "spec": {"ports": [{**_PORT, "port": 443, "targetPort": 6444}]},
    },
    {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": _NAME,
            "namespace": NAMESPACE,
            "labels": {"kubernetes.io/service-name": _NAME},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [_ADAPTER], "conditions": {"ready": True}}],
        "ports": [_PORT],
    },
    {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1beta1.external.metrics.k8s.io"},
        "spec": {
            "group": "external.metrics.k8s.io",
            "version": "v1beta1",
            "service": {"name": _NAME, "namespace": NAMESPACE, "port": 443},
            "insecureSkipTLSVerify": True,
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
        },
    },
]
