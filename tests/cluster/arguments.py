"""The command lines of a control plane; the namespace is ours, so its ports are the usual ones."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.credentials import Credentials

# Which kubelet plays a node: kwok for many that only say they run, ours for pods that really do.
KUBELET_LABEL = "tests.controlplane.dev/kubelet"
OF_LABEL = "tests.controlplane.dev/of"  # the namespace whose pods a node takes
PODS_GO_TO = "scheduler.alpha.kubernetes.io/node-selector"  # of a namespace: adds to its pods
PULL_S = "tests.controlplane.dev/pull-s"  # annotation: how long such a node pulls an image

_OFTEN = ("--kube-api-qps=300", "--kube-api-burst=600")  # the defaults of 20/s are for real life


def etcd(program: Path, home: Path) -> list[str]:
    """Without fsync: the data need not survive the machine."""
    return [
        str(program), f"--data-dir={home / 'etcd'}", "--unsafe-no-fsync", "--log-level=warn",
        "--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379",
        "--listen-peer-urls=http://127.0.0.1:2380",
    ]  # fmt: skip


def api_server(program: Path, home: Path, credentials: Credentials) -> list[str]:
    """RBAC on, every request audited, and the aggregation that KEDA's metrics need."""
    keys = credentials.home
    (home / "audit.yaml").write_text(json.dumps(_AUDIT))
    return [
        str(program),
        "--etcd-servers=http://127.0.0.1:2379",
        "--secure-port=6443", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
        f"--tls-cert-file={keys}/apiserver.crt", f"--tls-private-key-file={keys}/apiserver.key",
        f"--client-ca-file={keys}/ca.crt", f"--token-auth-file={keys}/tokens.csv",
        "--authorization-mode=RBAC",
        f"--service-account-key-file={keys}/accounts.pub",
        f"--service-account-signing-key-file={keys}/accounts.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none",
        "--enable-admission-plugins=PodNodeSelector",
        f"--audit-policy-file={home}/audit.yaml", f"--audit-log-path={home}/audit.log",
        "--audit-log-maxsize=4000",  # one file, whatever its size: tests remember places in it
        "--enable-aggregator-routing=true",
        f"--requestheader-client-ca-file={keys}/front-proxy-ca.crt",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        f"--proxy-client-cert-file={keys}/front-proxy-client.crt",
        f"--proxy-client-key-file={keys}/front-proxy-client.key",
        "--profiling=false", "--shutdown-delay-duration=0s",
    ]  # fmt: skip


def controllers(program: Path, credentials: Credentials) -> list[str]:
    """A node is believed dead after 20 s, half of the usual, so that tests need not wait."""
    return [
        str(program),
        f"--kubeconfig={credentials.kubeconfig('system:kube-controller-manager')}",
        f"--service-account-private-key-file={credentials.home}/accounts.key",
        f"--root-ca-file={credentials.ca}",
        "--leader-elect=false", "--use-service-account-credentials=true", "--secure-port=0",
        "--node-monitor-period=2s", "--node-monitor-grace-period=20s",
        "--horizontal-pod-autoscaler-sync-period=3s", "--profiling=false", *_OFTEN,
    ]  # fmt: skip


def scheduler(program: Path, credentials: Credentials) -> list[str]:
    """The real one: what it leaves pending is pending."""
    return [
        str(program), f"--kubeconfig={credentials.kubeconfig('system:kube-scheduler')}",
        "--leader-elect=false", "--secure-port=0", "--profiling=false", *_OFTEN,
    ]  # fmt: skip


def kwok(program: Path, credentials: Credentials, stages: Sequence[Path]) -> list[str]:
    """Nodes in number, whose pods only say that they run."""
    return [
        str(program), f"--kubeconfig={credentials.kubeconfig('tests:kwok')}",
        f"--manage-nodes-with-label-selector={KUBELET_LABEL}=kwok",
        "--node-lease-duration-seconds=40", "--cidr=10.64.0.0/11",
        *(f"--config={path}" for path in stages),
    ]  # fmt: skip


# What the plane and its kubelets do among themselves is no one's proof of anything.
_AUDIT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {
            "level": "None",
            "users": [
                "system:apiserver", "system:kube-controller-manager", "system:kube-scheduler",
                "tests:kubelet", "tests:kwok",
            ],
        },
        {"level": "None", "userGroups": ["system:serviceaccounts:kube-system"]},
        {"level": "Metadata"},
    ],
}  # fmt: skip
