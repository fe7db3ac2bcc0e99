"""A real HPA, as we render it, obeys our external metric: at once, and within a tenth too.

Between the two stands a small server of external.metrics.k8s.io, where prometheus-adapter would; it
gives what `controlplane_wanted_replicas` says.
"""

import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web

from controlplane.clock import stopwatch, wall
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.render.hpa import WANTED, hpas
from controlplane.telemetry.metrics import Metrics
from tests.cluster.api import Api, Manifest, RefusedError
from tests.cluster.nodes import Nodes, is_true
from tests.cluster.workloads import deployment, pod_spec
from tests.render.handover.fleet import a_fleet

GROUP = "external.metrics.k8s.io"
ADDRESS, PORT = "10.244.255.2", 6445
FLEET, CHAT, A100 = a_fleet(), ModelName("chat"), ClassName("A100-80G")
DEPLOYMENT = "chat-a100-80g"
WITHIN_S = 15.0


@dataclass
class External:
    """Answers for prometheus-adapter, from our registry."""

    metrics: Metrics

    async def resources(self, _: web.Request) -> web.Response:
        known = {"name": WANTED, "namespaced": True, "kind": "ExternalMetricValueList",
                 "singularName": "", "verbs": ["get"]}  # fmt: skip
        return web.json_response(
            {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{GROUP}/v1beta1",
             "resources": [known]}
        )  # fmt: skip

    async def value(self, request: web.Request) -> web.Response:
        asked = dict(part.split("=") for part in request.query["labelSelector"].split(","))
        x = self.metrics.registry.get_sample_value(request.match_info["metric"], asked)
        at = datetime.fromtimestamp(wall(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        value = {"metricName": WANTED, "metricLabels": asked, "timestamp": at, "value": f"{x:g}"}
        items = [] if x is None else [value]
        return web.json_response(
            {"kind": "ExternalMetricValueList", "apiVersion": f"{GROUP}/v1beta1", "metadata": {},
             "items": items}
        )  # fmt: skip


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=external", "-keyout", tmp_path / "tls.key", "-out", tmp_path / "tls.crt"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")
    return context


@pytest.fixture
async def metrics(api: Api, tls: ssl.SSLContext) -> AsyncIterator[Metrics]:
    given = Metrics()
    external = External(given)
    app = web.Application()
    root = f"/apis/{GROUP}/v1beta1"
    app.router.add_get(root, external.resources)
    app.router.add_get(root + "/namespaces/{namespace}/{metric}", external.value)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, ADDRESS, PORT, ssl_context=tls).start()
    before = await _known(api)
    for manifest in OBJECTS:
        await api.apply(manifest)
    place = f"/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.{GROUP}"
    await api.until(place, lambda one: is_true("Available", one), timeout_s=40)
    yield given
    for manifest in () if before else reversed(OBJECTS):
        with suppress(RefusedError):
            await api.remove(manifest)
    await runner.cleanup()


async def test_it_follows_up_and_down_and_by_one_of_eleven(
    api: Api, namespace: str, nodes: Nodes, metrics: Metrics
) -> None:
    await nodes.add(kubelet="kwok")
    await api.create(deployment(namespace, DEPLOYMENT, 4, pod_spec(None)))
    (hpa,) = hpas(CHAT, FLEET, namespace)
    metrics.sizes({CHAT: {A100: 4}})
    await api.apply(hpa)

    took = [await _reached(api, namespace, metrics, wanted) for wanted in (6, 11, 12, 4)]

    assert max(took[1:]) < WITHIN_S, took


async def _reached(api: Api, namespace: str, metrics: Metrics, wanted: int) -> float:
    metrics.sizes({CHAT: {A100: wanted}})
    began = stopwatch()
    place = f"/apis/apps/v1/namespaces/{namespace}/deployments/{DEPLOYMENT}"

    def there(of: Manifest) -> bool:
        status = of.get("status", {})
        return bool(of["spec"]["replicas"] == wanted == status.get("replicas"))

    await api.until(place, there, timeout_s=50)
    return stopwatch() - began


async def _known(api: Api) -> bool:
    with suppress(RefusedError):
        await api.get(f"/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.{GROUP}")
        return True
    return False


_PLACE = {"name": "external-metrics", "namespace": "default"}
OBJECTS: list[Manifest] = [
    {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _PLACE,
        "spec": {"ports": [{"name": "https", "port": 443, "targetPort": PORT}]},
    },
    {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {**_PLACE, "labels": {"kubernetes.io/service-name": "external-metrics"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [ADDRESS], "conditions": {"ready": True}}],
        "ports": [{"name": "https", "port": PORT, "protocol": "TCP"}],
    },
    {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"v1beta1.{GROUP}"},
        "spec": {
            "group": GROUP,
            "version": "v1beta1",
            "service": {**_PLACE, "port": 443},
            "insecureSkipTLSVerify": True,
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
        },
    },
]
