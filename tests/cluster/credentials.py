"""Keys, certificates and tokens of a test cluster, made anew for each."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

SERVER = "https://127.0.0.1:6443"

# Who calls: name, groups. The API server reads them from a file of tokens.
CALLERS = {
    "admin": "system:masters",
    "system:kube-controller-manager": "",
    "system:kube-scheduler": "",
    "tests:kubelet": "system:masters",
    "tests:kwok": "system:masters",
    "tests:keda": "system:masters",
}


@dataclass(frozen=True)
class Credentials:
    """A folder full of them."""

    home: Path

    @property
    def ca(self) -> Path:
        """Who signed the API server's certificate."""
        return self.home / "ca.crt"

    def token(self, caller: str) -> str:
        """Give a caller's token: a namespace of its own needs no secrets in it."""
        return f"token-of-{caller.replace(':', '-')}"

    def kubeconfig(self, caller: str) -> Path:
        """Give the file with which a caller reaches the API server."""
        return self.home / f"{caller.replace(':', '-')}.kubeconfig"


def prepare(home: Path) -> Credentials:
    """Write them all."""
    made = Credentials(home)
    home.mkdir(parents=True, exist_ok=True)
    _authority(home, "ca")
    _authority(home, "front-proxy-ca")
    sign(home, "apiserver", "ca", "DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1")
    sign(home, "front-proxy-client", "front-proxy-ca", "DNS:front-proxy-client")
    _openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out accounts.key", home)
    _openssl("pkey -in accounts.key -pubout -out accounts.pub", home)
    lines = [
        ",".join([made.token(c), c, c, *([f'"{groups}"'] if groups else [])])
        for c, groups in CALLERS.items()
    ]
    (home / "tokens.csv").write_text("\n".join(lines) + "\n")
    for caller in CALLERS:
        made.kubeconfig(caller).write_text(kubeconfig(made.ca, made.token(caller)))
    return made


def kubeconfig(ca: Path, token: str, namespace: str = "default") -> str:
    """Write how to reach the API server with a token; JSON is YAML too."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {"name": "test", "cluster": {"server": SERVER, "certificate-authority": str(ca)}}
            ],
            "users": [{"name": "caller", "user": {"token": token}}],
            "contexts": [
                {
                    "name": "test",
                    "context": {"cluster": "test", "user": "caller", "namespace": namespace},
                }
            ],
            "current-context": "test",
        },
        indent=1,
    )


def _authority(home: Path, name: str) -> None:
    _openssl(
        f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN={name} "
        f"-keyout {name}.key -out {name}.crt",
        home,
    )


def sign(home: Path, name: str, authority: str, names: str) -> None:
    """Make a certificate for serving and calling, signed by an authority of this folder."""
    _openssl(
        f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN={name} "
        f"-CA {authority}.crt -CAkey {authority}.key -addext basicConstraints=critical,CA:FALSE "
        f"-addext subjectAltName={names} -addext extendedKeyUsage=serverAuth,clientAuth "
        f"-keyout {name}.key -out {name}.crt",
        home,
    )


def _openssl(words: str, home: Path) -> None:
    subprocess.run(["openssl", *words.split()], cwd=home, check=True, capture_output=True)
