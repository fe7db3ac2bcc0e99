"""deploy/envoy: options that exist, no rights, no way out but those it needs, time to leave."""

from pathlib import Path
from typing import Any

import click
import pytest
from ruamel.yaml import YAML

from controlplane.cli.gateway import command
from controlplane.settings import checked

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "envoy"
Manifest = dict[str, Any]


def read(name: str) -> list[Manifest]:
    return [one for one in YAML(typ="safe").load_all((FOLDER / name).read_text("utf-8")) if one]


def pod() -> Manifest:
    (deployment,) = read("deployment.yaml")
    spec: Manifest = deployment["spec"]["template"]["spec"]
    return spec


def container(name: str) -> Manifest:
    found: Manifest = next(one for one in pod()["containers"] if one["name"] == name)
    return found


def parsed(words: list[str]) -> dict[str, Any]:
    """Read a command line as the command itself does."""
    assert words[0] == "gateway"
    made = command.commands[words[1]]
    help_names = ["-h", "--help"]  # as the whole program has them: a command keeps its first
    context = made.make_context(words[1], words[2:], help_option_names=help_names)
    with context:
        return dict(context.params)


def test_every_option_is_one_the_commands_know() -> None:
    envoy, joined = parsed(container("envoy")["args"]), parsed(container("admission")["args"])

    assert envoy["folder"] == joined["folder"]
    assert {at["mountPath"] for at in container("envoy")["volumeMounts"]} >= {str(envoy["folder"])}
    assert joined["daemons"] == ("http://controlplane-daemons:8080",)


@pytest.mark.parametrize("name", ["envoy", "admission"])
def test_it_ends_only_when_its_requests_have_and_that_fits_into_its_grace(name: str) -> None:
    words = container(name)["lifecycle"]["preStop"]["exec"]["command"]
    left = parsed(words[1:])

    assert words[0] == "controlplane"
    assert left["within_s"] < pod()["terminationGracePeriodSeconds"]
    assert left["leave_s"] > 0  # nobody knows yet that it is out of the Service


def test_ports_are_those_it_listens_on() -> None:
    joined = parsed(container("admission")["args"])
    ports = {p["name"]: p["containerPort"] for c in pod()["containers"] for p in c["ports"]}

    assert ports == {"http": joined["port"], "metrics": joined["metrics_port"]}


def test_it_asks_the_api_server_nothing() -> None:
    kinds = {one["kind"] for path in FOLDER.glob("*.yaml") for one in read(path.name)}

    assert not kinds & {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "Secret"}
    assert pod()["automountServiceAccountToken"] is False
    (account,) = read("account.yaml")
    assert account["automountServiceAccountToken"] is False


def test_nothing_goes_out_but_to_names_daemons_slots_and_engines() -> None:
    policy = next(
        one for one in read("network-policy.yaml")
        if one["metadata"]["name"] == "controlplane-gateway"
    )  # fmt: skip
    wide = [rule["ports"] for rule in policy["spec"]["egress"] if "to" not in rule]

    assert [{port["port"] for port in ports} for ports in wide] == [{53}]
    assert {"Ingress", "Egress"} == set(policy["spec"]["policyTypes"])


def test_one_lost_pod_is_not_the_last() -> None:
    (deployment,), (budget,) = read("deployment.yaml"), read("disruption-budget.yaml")

    assert deployment["spec"]["replicas"] >= 2
    assert deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert budget["spec"]["minAvailable"] >= 1
    keys = {spread["topologyKey"] for spread in pod()["topologySpreadConstraints"]}
    assert keys == {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}


def test_whoever_is_selected_is_labelled_so() -> None:
    (deployment,) = read("deployment.yaml")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    service = next(s for s in read("service.yaml") if s["spec"].get("clusterIP") != "None")

    assert deployment["spec"]["selector"]["matchLabels"] == labels == service["spec"]["selector"]


def test_every_file_that_is_named_is_there_and_every_file_is_named() -> None:
    (kustomization,) = read("kustomization.yaml")
    files = {path.name for path in FOLDER.iterdir()} - {"kustomization.yaml"}

    assert set(kustomization["resources"]) == files


def test_the_fleet_file_that_ships_lets_gateways_serve_beyond_a_machine() -> None:
    text = (ROOT / "deploy" / "kubernetes" / "base" / "fleet.yaml").read_text("utf-8")

    assert checked(text, "fleet.yaml").catalogue.gateway.require_key


def test_the_commands_of_its_containers_are_there() -> None:
    assert isinstance(command, click.Group)
    assert {"join", "envoy", "leave"} <= set(command.commands)
