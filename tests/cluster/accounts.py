"""The account of the daemon under test: a real service account, and no right but those we ship."""

from dataclasses import dataclass
from pathlib import Path

from tests.cluster.api import Api, Manifest
from tests.cluster.credentials import kubeconfig
from tests.cluster.handed import Cluster
from tests.cluster.manifests import shipped

DEPLOYED = Path(__file__).parents[2] / "deploy" / "kubernetes" / "base"
_ACCESS = {"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
_GROUP = "rbac.authorization.k8s.io"


@dataclass(frozen=True)
class Account:
    """A caller with a token that the API server issued."""

    namespace: str
    name: str
    user: str  # as the audit log has it
    token: str
    kubeconfig: Path

    def api(self, cluster: Cluster) -> Api:
        """Call as this account."""
        return Api(cluster.server, self.token, cluster.ca)


async def daemon_account(api: Api, cluster: Cluster, namespace: str) -> Account:
    """Give the daemon's account in a namespace, with exactly the access that deploy/ grants it."""
    access = [one for one in await shipped(cluster, DEPLOYED) if one["kind"] in _ACCESS]
    ours = [moved(one, namespace) for one in access]
    for one in ours:
        await api.apply(one)
    (name,) = [one["metadata"]["name"] for one in ours if one["kind"] == "ServiceAccount"]
    return await issue(api, cluster, namespace, name)


async def second_account(api: Api, cluster: Cluster, namespace: str, name: str) -> Account:
    """Give another account with the very same access, so that the audit log tells two apart."""
    about = {"name": name, "namespace": namespace}
    subject = {"kind": "ServiceAccount", **about}
    await api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": about})
    for one in await shipped(cluster, DEPLOYED):
        if one["kind"] in {"RoleBinding", "ClusterRoleBinding"}:
            bound = moved({**one, "subjects": [subject]}, namespace)
            bound["metadata"]["name"] += f"-{name}"
            await api.apply(bound)
    return await issue(api, cluster, namespace, name)


def moved(manifest: Manifest, namespace: str) -> Manifest:
    """Put a manifest into another namespace; what is cluster-wide gets a name of its own."""
    meta = dict(manifest["metadata"])
    if manifest["kind"] == "ClusterRoleBinding":
        meta["name"] = f"{meta['name']}-{namespace}"
    elif manifest["kind"] != "ClusterRole":
        meta["namespace"] = namespace
    subjects = [{**subject, "namespace": namespace} for subject in manifest.get("subjects", ())]
    return {**manifest, "metadata": meta, **({"subjects": subjects} if subjects else {})}


async def issue(api: Api, cluster: Cluster, namespace: str, name: str) -> Account:
    """Ask for a token of a service account, and write the file to reach the API server with it."""
    asked = await api.post(
        f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}},
    )
    token: str = asked["status"]["token"]
    place = cluster.home / f"{namespace}-{name}.kubeconfig"
    place.write_text(kubeconfig(cluster.ca, token, namespace))
    return Account(namespace, name, f"system:serviceaccount:{namespace}:{name}", token, place)


async def grant(
    api: Api, namespace: str, name: str, rules: list[Manifest], *, everywhere: bool = False
) -> None:
    """Make a service account with these rights, in its namespace or in all."""
    kind = "ClusterRole" if everywhere else "Role"
    meta = {"name": name, "namespace": namespace}
    bound = {"name": f"{name}-{namespace}"} if everywhere else meta
    version = f"{_GROUP}/v1"
    await api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    await api.apply({"apiVersion": version, "kind": kind, "metadata": bound, "rules": rules})
    await api.apply(
        {
            "apiVersion": version,
            "kind": f"{kind}Binding",
            "metadata": bound,
            "roleRef": {"apiGroup": _GROUP, "kind": kind, "name": bound["name"]},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
        }
    )
