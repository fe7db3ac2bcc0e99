"""A container's file system: its volumes are there, and what it writes stays its own."""

from pathlib import Path
from typing import Any

import pytest

from tests.cluster.accounts import grant
from tests.cluster.api import Api
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes
from tests.cluster.workloads import answering, pod, pod_spec

pytestmark = pytest.mark.usefixtures("mounts")


def exist(*paths: str) -> list[str]:
    """Give those that this machine has."""
    return [path for path in paths if Path(path).exists()]


async def run(api: Api, namespace: str, node: str, script: str, **more: Any) -> None:
    """Run a script in a pod to its end."""
    container = answering(command=["sh", "-c", script], **more.pop("container", {}))
    del container["readinessProbe"]
    spec = pod_spec(node, container, restartPolicy="Never", **more)
    await api.create(pod(namespace, "a", spec))
    await api.until(
        f"/api/v1/namespaces/{namespace}/pods/a",
        lambda p: p["status"]["phase"] in {"Succeeded", "Failed"},
    )


async def test_a_config_map_is_mounted_and_writes_are_seen_by_nobody_else(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()
    meta = {"name": "settings", "namespace": namespace}
    await api.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"fleet.yaml": "a: 1"}}
    )

    await run(
        api, namespace, node,
        "cat /etc/controlplane/fleet.yaml; echo; touch /etc/mine && ls /etc/mine",
        volumes=[{"name": "settings", "configMap": {"name": "settings"}}],
        container={"volumeMounts": [{"name": "settings", "mountPath": "/etc/controlplane"}]},
    )  # fmt: skip

    assert cluster.log(namespace, "a").splitlines() == ["a: 1", "/etc/mine"]
    assert exist("/etc/controlplane/fleet.yaml", "/etc/mine") == []


async def test_a_read_only_root_can_be_written_only_where_a_volume_is(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()

    await run(
        api, namespace, node,
        "touch /var/lib/controlplane/a && echo data; touch /var/lib/b || echo refused",
        volumes=[{"name": "data", "emptyDir": {}}],
        container={
            "volumeMounts": [{"name": "data", "mountPath": "/var/lib/controlplane"}],
            "securityContext": {"readOnlyRootFilesystem": True},
        },
    )  # fmt: skip

    said = cluster.log(namespace, "a").splitlines()
    assert (said[0], said[-1]) == ("data", "refused")


async def test_a_pod_with_an_account_reaches_the_api_server_as_that_account(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add()
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    await grant(api, namespace, "reader", rules)
    folder = "/var/run/secrets/kubernetes.io/serviceaccount"
    asked = (
        f"import json, ssl, urllib.request as u; read = lambda n: open('{folder}/' + n).read();"
        "r = u.Request('https://127.0.0.1:6443/api/v1/namespaces/' + read('namespace') + '/pods',"
        "headers={'Authorization': 'Bearer ' + read('token')});"
        f"t = ssl.create_default_context(cafile='{folder}/ca.crt');"
        "print([p['metadata']['name'] for p in json.load(u.urlopen(r, context=t))['items']])"
    )

    await run(api, namespace, node, f'python -c "{asked}"', serviceAccountName="reader")

    assert cluster.log(namespace, "a").strip() == "['a']"
