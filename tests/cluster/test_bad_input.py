"""`controlplane serve` told wrongly of a cluster: one sentence, and the command that helps."""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster.accounts import Account, grant, issue
from tests.cluster.api import Manifest
from tests.cluster.manifests import define
from tests.cluster.seeing import NODES_RULE, PODS_RULE
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until
from tests.cluster.test_client import run
from tests.cluster.workloads import deployment, pod_spec

HPA: Manifest = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat-t4"}
SCALES: Manifest = {"scaleTargetRef": TARGET, "maxReplicas": 3}
KEDAS: Manifest = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject"}
NIGHTS = {"timezone": "Etc/UTC", "start": "0 0 * * *", "end": "0 6 * * *", "desiredReplicas": "3"}
TRIGGERED: Manifest = {
    "scaleTargetRef": TARGET,
    "triggers": [{"type": "cron", "metadata": NIGHTS}],
}
MAY_BEGIN: Manifest = {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]}
LEASES: Manifest = {
    "apiGroups": ["coordination.k8s.io"],
    "resources": ["leases"],
    "verbs": ["get", "create", "update", "watch"],
}
OWNER: Manifest = {**KEDAS, "name": "theirs", "controller": True, "blockOwnerDeletion": True}


async def refused(stage: Scene, kubeconfig: Path, namespace: str) -> str:
    """Start a daemon that cannot start, and give its one sentence."""
    fleet = stage.folder / "refused.yaml"
    fleet.write_text(fleet_text(), "utf-8")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controlplane", "serve", "--port", "0", "--mode", "act"),
        *("--kubeconfig", str(kubeconfig), "--namespace", namespace, "--config", str(fleet)),
        *("--data", str(stage.folder / "refused")),
        env=os.environ,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60.0):
        _, said = await process.communicate()

    assert process.returncode == 1, said.decode()
    (sentence,) = said.decode().splitlines()
    return sentence


async def nobody(stage: Scene) -> Account:
    """Give an account without any right."""
    await grant(stage.api, stage.namespace, "nobody", [])
    return await issue(stage.api, stage.cluster, stage.namespace, "nobody")


async def test_a_namespace_that_does_not_exist_is_said_with_the_command_that_makes_it(
    stage: Scene,
) -> None:
    said = await refused(stage, stage.cluster.admin_kubeconfig, f"{stage.namespace}-not")

    assert said.startswith(f"Error: namespace: there is no {stage.namespace}-not at https://")
    assert said.endswith(f"; kubectl create namespace {stage.namespace}-not")


async def test_credentials_that_have_run_out_are_said_with_the_command_that_shows_them(
    stage: Scene,
) -> None:
    text = stage.cluster.admin_kubeconfig.read_text("utf-8")
    old = stage.folder / "old.kubeconfig"
    old.write_text(text.replace(stage.cluster.admin_token, "run-out"), "utf-8")

    said = await refused(stage, old, stage.namespace)

    assert "does not know these credentials (401)" in said
    assert "kubectl auth whoami" in said


async def test_the_right_to_begin_is_granted_by_the_command_and_what_is_missing_then_is_said(
    stage: Scene,
) -> None:
    """A Role in its namespace is enough: nothing beyond it is asked for."""
    account = await nobody(stage)

    said = await refused(stage, account.kubeconfig, stage.namespace)

    assert f"is forbidden to {account.user}; this grants it: " in said
    command = said.split("this grants it: ")[1]
    assert "clusterrole" not in command
    await run(command.replace("kubectl", str(stage.cluster.kubectl)), stage.cluster)
    async with replace(stage, account=account).daemon(fleet_text()) as daemon:

        async def looked() -> bool:
            loops = (await daemon.get("/healthz"))["loops"]
            failures[:] = [loops["scaling"]["failure"]] if "scaling" in loops else [""]
            return bool(failures[0])

        failures: list[str] = []
        await until(looked, 30.0)

    (failure,) = failures
    assert f"list pods in namespace {stage.namespace} is forbidden to {account.user}" in failure
    assert "kubectl create role controlplane-list-pods" in failure


@pytest.mark.parametrize(
    ("rights", "told"),
    [
        (
            [MAY_BEGIN, PODS_RULE],
            {"InventoryUnknown": "list nodes", "NobodyLeads": "get leases.coordination.k8s.io"},
        ),
        ([MAY_BEGIN, PODS_RULE, NODES_RULE, LEASES], {"ActionRefused": "get deployments.apps"}),
    ],
    ids=["neither-sees-nor-leads", "may-not-write"],
)
async def test_what_a_daemon_may_not_do_stands_on_the_first_page_with_the_command_that_grants_it(
    stage: Scene, rights: list[Manifest], told: dict[str, str]
) -> None:
    await stage.nodes.add("T4", 1, zone="z1", kubelet="kwok")
    await grant(stage.api, stage.namespace, "few", rights)
    if NODES_RULE in rights:
        await grant(stage.api, stage.namespace, "few", [NODES_RULE], everywhere=True)
    account = await issue(stage.api, stage.cluster, stage.namespace, "few")

    async with replace(stage, account=account).daemon(fleet_text()) as daemon:
        seen: dict[str, str] = {}

        async def shown() -> bool:
            rows = (await daemon.get("/api/v1/fleet"))["attention"]
            seen.update({row["code"]: str(row["evidence"]) for row in rows})
            return told.keys() <= seen.keys()

        await until(shown, 60.0, lambda: f"{seen}, not {told}")

    for code, what in told.items():
        assert what in seen[code]
        assert f"is forbidden to {account.user}; this grants it: kubectl create" in seen[code]


async def theirs(stage: Scene) -> None:
    """Let a Deployment of somebody else stand where one of ours would."""
    await stage.nodes.add("T4", 1, zone="z1")
    await stage.api.apply(
        deployment(stage.namespace, "chat-t4", 1, pod_spec(None)), manager="their-tool"
    )


async def what_serve_says(stage: Scene) -> str:
    """Let a daemon run into it, and give the sentence of its refusal."""
    async with stage.daemon(fleet_text()) as daemon:
        notes: set[str] = set()

        async def refusing() -> bool:
            rows = await daemon.decisions()
            notes.update(row["note"] for row in rows if row["ending"] == "refused")
            return bool(notes)

        await until(refusing, 60.0)
    (said,) = notes
    return said


async def number(stage: Scene) -> int:
    place = f"/apis/apps/v1/namespaces/{stage.namespace}/deployments/chat-t4"
    found: int = (await stage.api.get(place))["spec"]["replicas"]
    return found


async def test_a_deployment_of_somebody_else_that_an_autoscaler_scales_is_left_alone_and_named(
    stage: Scene,
) -> None:
    await theirs(stage)
    about = {"name": "theirs", "namespace": stage.namespace}
    await stage.api.create({**HPA, "metadata": about, "spec": SCALES})

    said = await what_serve_says(stage)

    assert "written by their-tool" in said
    assert "its number by HorizontalPodAutoscaler theirs" in said
    assert f"kubectl get hpa theirs -n {stage.namespace} shows that" in said
    assert f"controlplane adopt {stage.namespace}/chat-t4 takes it over" in said
    assert await number(stage) == 1


async def test_a_deployment_that_keda_scales_is_left_alone_and_both_its_objects_are_named(
    stage: Scene,
) -> None:
    """The ScaledObject people wrote, and the HPA as KEDA makes it: a real one does in test_keda."""
    await define(stage.api, "keda")
    await theirs(stage)
    about = {"name": "theirs", "namespace": stage.namespace}
    wanted = await stage.api.create({**KEDAS, "metadata": about, "spec": TRIGGERED})
    owner = {**OWNER, "uid": wanted["metadata"]["uid"]}
    made = {**about, "name": "keda-hpa-theirs", "ownerReferences": [owner]}
    await stage.api.create({**HPA, "metadata": made, "spec": SCALES})

    said = await what_serve_says(stage)

    assert (
        "its number by KEDA ScaledObject theirs (through HorizontalPodAutoscaler keda-hpa-" in said
    )
    assert f"kubectl get scaledobject theirs -n {stage.namespace} shows that" in said
    assert await number(stage) == 1
