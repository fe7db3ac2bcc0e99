"""deploy/kubernetes: least privilege, options that exist, a fleet file without faults."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from controlplane.adapters.kubernetes import resources
from controlplane.adapters.kubernetes.resources import Resource
from controlplane.settings import checked, serve_options
from controlplane.settings.options import unknown_variables

ROOT = Path(__file__).parents[2]
BASE = ROOT / "deploy" / "kubernetes" / "base"
HA = ROOT / "deploy" / "kubernetes" / "overlays" / "ha"
Manifest = dict[str, Any]
# Everybody may ask what they may.
ASKED_BY_OTHERS = {"selfsubjectaccessreviews"}


def read(path: Path) -> list[Manifest]:
    return [one for one in YAML(typ="safe").load_all(path.read_text("utf-8")) if one]


def rules(kind: str) -> Iterator[tuple[str, str, set[str]]]:
    """Give group, resource and verbs of each rule."""
    for path in sorted(BASE.glob("access*.yaml")):
        for manifest in read(path):
            for rule in manifest.get("rules", ()) if manifest["kind"] == kind else ():
                for group in rule["apiGroups"]:
                    for resource in rule["resources"]:
                        yield group, resource, set(rule["verbs"])


def pod_spec() -> Manifest:
    (deployment,) = read(BASE / "deployment.yaml")
    spec: Manifest = deployment["spec"]["template"]["spec"]
    return spec


def container() -> Manifest:
    (only,) = pod_spec()["containers"]
    found: Manifest = only
    return found


def used() -> set[str]:
    """Give the resources that the daemon's code names, as `plural.group`."""
    known = {name: one for name, one in vars(resources).items() if isinstance(one, Resource)}
    found = set()
    for path in [
        *(ROOT / "controlplane" / "adapters" / "kubernetes").glob("*.py"),
        ROOT / "controlplane" / "daemon" / "kubernetes.py",
    ]:
        if path.name in ("resources.py", "adoption.py"):
            continue  # adopting is a command: it asks under the name of whoever runs it
        tree = ast.parse(path.read_text("utf-8"))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        found |= {known[name].full for name in names & set(known)}
    return found - {f"{name}.authorization.k8s.io" for name in ASKED_BY_OTHERS}


def test_the_roles_name_what_the_code_names_and_nothing_else() -> None:
    granted = {
        f"{resource.partition('/')[0]}.{group}".rstrip(".")
        for kind in ("Role", "ClusterRole")
        for group, resource, _ in rules(kind)
    }

    assert granted == used()


def test_no_rule_has_a_wildcard_or_touches_what_the_daemon_needs_not() -> None:
    for kind in ("Role", "ClusterRole"):
        for group, resource, verbs in rules(kind):
            assert "*" not in {group, resource, *verbs}
            assert resource not in {"secrets", "pods/exec", "pods/eviction", "serviceaccounts"}
            assert not verbs & {"deletecollection", "escalate", "bind", "impersonate"}


def test_beyond_its_namespace_it_reads_nodes_and_nothing_else() -> None:
    assert list(rules("ClusterRole")) == [("", "nodes", {"list", "watch"})]


def test_only_its_own_lease_is_renewed() -> None:
    (access,) = [one for one in read(BASE / "access.yaml") if one["kind"] == "Role"]
    leases = [rule for rule in access["rules"] if rule["resources"] == ["leases"]]

    assert [rule.get("resourceNames") for rule in leases if "update" in rule["verbs"]] == [
        ["controlplane"]
    ]


def test_every_option_it_is_started_with_exists() -> None:
    environment = {one["name"]: one.get("value", "x") for one in container()["env"]}
    arguments = container()["args"]
    given = dict(zip(arguments[1::2], arguments[2::2], strict=True))
    options = serve_options({name.removeprefix("--"): v for name, v in given.items()}, environment)

    assert arguments[0] == "serve"
    assert unknown_variables(environment) == ()
    assert (options.kubeconfig, options.mode, options.port) == ("in-cluster", "advise", 8080)


def test_the_fleet_file_it_begins_with_has_no_fault_and_no_warning() -> None:
    text = (BASE / "fleet.yaml").read_text("utf-8")

    assert checked(text, "fleet.yaml").warnings == ()


def test_its_probes_ask_what_needs_no_token() -> None:
    asked = {container()[f"{kind}Probe"]["httpGet"]["path"] for kind in
             ("startup", "readiness", "liveness")}  # fmt: skip

    assert asked == {"/healthz", "/readyz"}


def test_it_runs_as_nobody_on_a_root_that_cannot_be_written() -> None:
    pod, security = pod_spec()["securityContext"], container()["securityContext"]

    assert pod["runAsNonRoot"]
    assert pod["runAsUser"] > 10_000
    assert pod["seccompProfile"] == {"type": "RuntimeDefault"}
    assert security["readOnlyRootFilesystem"]
    assert security["allowPrivilegeEscalation"] is False
    assert security["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("folder", [BASE, HA], ids=["base", "ha"])
def test_every_file_that_is_named_is_there_and_every_file_is_named(folder: Path) -> None:
    (kustomization,) = read(folder / "kustomization.yaml")
    named = {
        *kustomization["resources"],
        *(patch["path"] for patch in kustomization.get("patches", ()) if "path" in patch),
        *(f for made in kustomization.get("configMapGenerator", ()) for f in made["files"]),
    }

    files = {path.name for path in folder.iterdir()} - {"kustomization.yaml"}
    assert {name for name in named if "/" not in name} == files


def test_no_secret_is_committed() -> None:
    found = subprocess.run(
        ["grep", "-rlE", "^kind: Secret", ROOT / "deploy"], capture_output=True, check=False
    )

    assert found.stdout == b""
