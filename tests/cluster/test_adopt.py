"""`controlplane adopt` on a real cluster: shown, done, lived with, undone."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

from controlplane.cli import run
from controlplane.domain import marks
from controlplane.domain.actions import Ensure, SetReplicas
from controlplane.domain.decisions import DONE
from controlplane.domain.replicas import Lane
from controlplane.domain.workloads import State
from tests.cluster.api import Api, Manifest
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes
from tests.cluster.workloads import answering, deployment, pod_spec, service
from tests.cluster.writer import CHAT, T4, a_catalogue, writer

NAME = "their-chat"


async def standing(api: Api, namespace: str, nodes: Nodes) -> list[str]:
    """Let a Deployment of two and its Service stand, as people make them; name its pods."""
    await nodes.add("T4")
    device = {"nvidia.com/gpu": "1"}
    container = answering(resources={"limits": device, "requests": device})
    made = deployment(namespace, NAME, 2, pod_spec(None, container))
    await api.create(made)
    await api.create(service(namespace, NAME, {"app": NAME}))
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{NAME}"
    await api.until(path, lambda seen: seen["status"].get("readyReplicas") == 2)
    pods = await api.items(f"/api/v1/namespaces/{namespace}/pods", labelSelector=f"app={NAME}")
    return sorted(pod["metadata"]["name"] for pod in pods)


Adopt = Callable[..., Awaitable[tuple[int, str]]]


@pytest.fixture
def adopt(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> Adopt:
    """Run the command; give its exit code and all that it said."""

    async def call(*arguments: str) -> tuple[int, str]:
        given = ["adopt", *arguments, "--kubeconfig", str(cluster.admin_kubeconfig)]
        capsys.readouterr()
        code = await asyncio.to_thread(run, given)  # it has an event loop of its own
        said = capsys.readouterr()
        return code, said.out + said.err

    return call


async def objects(api: Api, namespace: str) -> dict[str, Manifest]:
    """Everything that adopting could change, without what every write changes."""
    found = {}
    for path in (f"/apis/apps/v1/namespaces/{namespace}/deployments",
                 f"/api/v1/namespaces/{namespace}/services",
                 f"/api/v1/namespaces/{namespace}/pods"):  # fmt: skip
        for each in await api.items(path):
            about = each["metadata"]
            written = {
                "labels": about.get("labels", {}),
                "annotations": about.get("annotations", {}),
                "spec": each["spec"],
            }
            found[about["name"] + path] = written
    return found


async def endpoints(api: Api, namespace: str) -> int:
    slices = await api.items(f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices")
    return sum(len(each.get("endpoints") or []) for each in slices)


async def test_without_yes_it_is_shown_and_nothing_changes(
    api: Api, namespace: str, nodes: Nodes, adopt: Adopt
) -> None:
    pods = await standing(api, namespace, nodes)
    before = await objects(api, namespace)

    code, said = await adopt(f"{namespace}/{NAME}", "--model", CHAT, "--class", T4)

    assert code == 0, said
    assert f"+ selector {marks.LANE}: serving" in said
    assert all(f"Pod {namespace}/{name}" in said for name in pods)
    assert "Nothing was changed." in said
    assert await objects(api, namespace) == before


async def test_adopted_it_serves_on_is_sized_and_given_back_as_it_was(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes, adopt: Adopt
) -> None:
    pods = await standing(api, namespace, nodes)
    before = await objects(api, namespace)

    code, said = await adopt(
        f"{namespace}/{NAME}", "--model", CHAT, "--class", T4, "--yes", "--json"
    )

    assert code == 0, said
    assert json.loads(said)["changed"] is True
    assert await endpoints(api, namespace) == 2
    catalogue = a_catalogue(deployment=NAME)
    async with writer(cluster.admin_kubeconfig, namespace, catalogue) as by:
        replicas = await by.replicas(lambda all_of: len(all_of) == 2)
        assert [r.name for r in replicas] == pods
        assert all(r.lane is Lane.SERVING and r.warmed_up for r in replicas)
        assert await by.cluster.apply(SetReplicas(CHAT, T4, 3)) == DONE
        (deployed,) = [
            piece
            for subject in (await by.cluster.standing()).subjects
            for piece in subject.pieces
            if piece.kind == "Deployment"
        ]
        assert deployed.state in {State.CHANGED, State.SETTLED}
        assert await by.cluster.apply(SetReplicas(CHAT, T4, 2)) == DONE

    code, said = await adopt(f"{namespace}/{NAME}", "--undo", "--yes")

    assert code == 0, said
    after = await objects(api, namespace)
    assert {name: after[name] for name in before if name in after} == {
        name: was for name, was in before.items() if name in after
    }
    assert len(after) >= len(before) - 1


async def test_pods_made_after_the_adoption_get_their_labels_and_load(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes, adopt: Adopt
) -> None:
    old = await standing(api, namespace, nodes)
    code, said = await adopt(f"{namespace}/{NAME}", "--model", CHAT, "--class", T4, "--yes")
    assert code == 0, said
    async with writer(cluster.admin_kubeconfig, namespace, a_catalogue(deployment=NAME)) as by:
        await by.cluster.apply(SetReplicas(CHAT, T4, 3))
        path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{NAME}"
        await api.until(path, lambda seen: seen["status"].get("readyReplicas") == 3)
        view = await by.cluster.standing()
        (piece,) = [p for s in view.subjects for p in s.pieces if p.kind == "Deployment"]
        assert piece.what == "1 pods without labels"
        assert await by.cluster.apply(Ensure("Deployment", NAME)) == DONE

        three = await by.replicas(lambda all_of: len(all_of) == 3)
        (new,) = [r for r in three if r.name not in old]
        assert new.lane is Lane.LOADING
        assert await endpoints(api, namespace) == 2


async def test_a_number_somebody_else_writes_is_taken_back_and_all_can_still_be_undone(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes, adopt: Adopt
) -> None:
    await standing(api, namespace, nodes)
    before = await objects(api, namespace)
    await adopt(f"{namespace}/{NAME}", "--model", CHAT, "--class", T4, "--yes")
    scale = f"/apis/apps/v1/namespaces/{namespace}/deployments/{NAME}/scale"
    await api.patch(scale, {"spec": {"replicas": 3}}, fieldManager="kubectl-scale")
    async with writer(cluster.admin_kubeconfig, namespace, a_catalogue(deployment=NAME)) as by:
        view = await by.cluster.standing()
        (piece,) = [p for s in view.subjects for p in s.pieces if p.kind == "Deployment"]
        refused = await by.cluster.apply(SetReplicas(CHAT, T4, 2))
        assert await by.cluster.apply(Ensure("Deployment", NAME, force=True)) == DONE

        assert (piece.state, piece.by) == (State.DRIFTED, "kubectl-scale")
        assert "kubectl-scale" in refused.note
        assert await by.cluster.apply(SetReplicas(CHAT, T4, 2)) == DONE

    code, said = await adopt(f"{namespace}/{NAME}", "--undo", "--yes")
    assert code == 0, said
    after = await objects(api, namespace)
    deployed = f"{NAME}/apis/apps/v1/namespaces/{namespace}/deployments"
    assert after[deployed] == before[deployed]


async def test_what_an_autoscaler_scales_is_not_adopted(
    api: Api, namespace: str, nodes: Nodes, adopt: Adopt
) -> None:
    await standing(api, namespace, nodes)
    await api.create(
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "theirs", "namespace": namespace},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": NAME},
                "maxReplicas": 3,
            },
        }
    )

    code, said = await adopt(f"{namespace}/{NAME}", "--model", CHAT, "--class", T4, "--yes")

    assert code == 1
    assert "HorizontalPodAutoscaler theirs" in said
    assert f"kubectl get hpa theirs -n {namespace}" in said
    assert len(said.strip().splitlines()) == 1


async def test_who_would_write_it_again_is_a_warning_and_no_obstacle(
    api: Api, namespace: str, nodes: Nodes, adopt: Adopt
) -> None:
    await standing(api, namespace, nodes)
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{NAME}"
    marked = {
        "labels": {"app.kubernetes.io/managed-by": "Helm"},
        "annotations": {"meta.helm.sh/release-name": "assistants"},
    }
    await api.patch(path, {"metadata": marked}, fieldManager="helm")
    asked = (f"{namespace}/{NAME}", "--model", CHAT, "--class", T4)
    sentence = (
        f"Deployment {namespace}/{NAME} belongs to Helm release assistants: the next helm upgrade "
        f"would set the number of replicas back, unless its chart names none"
    )

    code, said = await adopt(*asked)
    assert code == 0, said
    assert f"warning: {sentence}\n" in said
    code, said = await adopt(*asked, "--yes", "--json")
    assert code == 0, said
    told = json.loads(said)

    assert (told["warnings"], told["changed"]) == ([sentence], True)


async def test_what_does_not_exist_or_was_not_adopted_says_so(
    api: Api, namespace: str, nodes: Nodes, adopt: Adopt
) -> None:
    code, said = await adopt(f"{namespace}/none", "--model", CHAT, "--class", T4)
    assert code == 1
    assert f"kubectl get deployments -n {namespace}" in said

    await standing(api, namespace, nodes)
    code, said = await adopt(f"{namespace}/{NAME}", "--undo")
    assert code == 1
    assert "nothing to undo" in said
