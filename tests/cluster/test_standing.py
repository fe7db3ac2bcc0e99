"""What stands is kept as the catalogue says: created, changed, drifted, foreign, stray."""

from dataclasses import replace

from controlplane.decide.workloads.cycle import WorkloadsMemory, cycle
from controlplane.domain.actions import Ensure, Remove, SetReplicas
from controlplane.domain.decisions import DONE, Ending
from controlplane.domain.quantities import ModelName
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.workloads import Piece, State
from tests.cluster.accounts import grant, issue
from tests.cluster.api import Api
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes
from tests.cluster.writer import CHAT, NAME, T4, Writer, a_catalogue, up, writer

DEPLOYMENT = "/apis/apps/v1/namespaces/{}/deployments/" + NAME


async def pieces(by: Writer) -> dict[str, Piece]:
    view = await by.cluster.standing()
    return {piece.key: piece for subject in view.subjects for piece in subject.pieces}


async def kept(by: Writer) -> list[ReasonCode | None]:
    """Run one cycle of the workloads loop, and give what it was about."""
    choices, _ = cycle(await by.cluster.standing(), WorkloadsMemory())
    for choice in choices:
        for action in choice.actions:
            assert await by.cluster.apply(action) == DONE
    return [choice.decisive for choice in choices]


async def test_what_the_catalogue_asks_for_is_made_once_and_then_stands(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    catalogue = a_catalogue(pre_pull="daemon-set")
    async with writer(cluster.admin_kubeconfig, namespace, catalogue) as by:
        missing = await pieces(by)
        first, second = await kept(by), await kept(by)

        assert set(missing) == {
            f"Deployment/{NAME}",
            f"PodDisruptionBudget/{NAME}",
            "Service/chat",
            "DaemonSet/pre-pull-t4",
        }
        assert {piece.state for piece in missing.values()} == {State.MISSING}
        assert first
        assert second == []
        live = await api.get(DEPLOYMENT.format(namespace))
        assert live["spec"]["replicas"] == 0


async def test_a_changed_catalogue_changes_the_template_and_not_the_number(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await nodes.add("T4")
        await by.cluster.apply(SetReplicas(CHAT, T4, 2))
        await by.replicas(up(2))
        await kept(by)
        await by.cluster.swap_catalogue(a_catalogue("tests/answering:2"))

        codes = await kept(by)

        live = await api.get(DEPLOYMENT.format(namespace))
        assert ReasonCode.WORKLOAD_CHANGED in codes
        assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "tests/answering:2"
        assert live["spec"]["replicas"] == 2
        assert await kept(by) == []


async def test_a_new_node_of_the_class_replaces_no_pod(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await kept(by)
        before = await api.get(DEPLOYMENT.format(namespace))
        await nodes.add("T4", labels={"nvidia.com/gpu.driver": "new"})

        assert await kept(by) == []
        after = await api.get(DEPLOYMENT.format(namespace))
        assert after["metadata"]["generation"] == before["metadata"]["generation"]


async def test_drift_by_another_manager_is_named_and_written_over(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await kept(by)
        path = DEPLOYMENT.format(namespace)
        theirs = {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 1}}}}
        await api.patch(path, theirs, fieldManager="hasty-admin")

        piece = (await pieces(by))[f"Deployment/{NAME}"]
        refused = await by.cluster.apply(Ensure("Deployment", NAME))
        codes = await kept(by)

        assert (piece.state, piece.by) == (State.DRIFTED, "hasty-admin")
        assert piece.what == "spec.template.spec.terminationGracePeriodSeconds"
        assert refused.ending is Ending.REFUSED
        assert "hasty-admin" in refused.note
        assert codes == [ReasonCode.WORKLOAD_DRIFTED]
        live = await api.get(path)
        assert live["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] != 1
        assert await kept(by) == []


async def test_what_others_add_is_no_drift(cluster: Cluster, api: Api, namespace: str) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await kept(by)
        restarted = {"kubectl.kubernetes.io/restartedAt": "2026-11-30T00:00:00Z"}
        path = DEPLOYMENT.format(namespace)
        added = {"spec": {"template": {"metadata": {"annotations": restarted}}}}
        await api.patch(path, added, fieldManager="kubectl-rollout")

        assert await kept(by) == []


async def test_a_number_somebody_set_is_drift_and_taken_back_before_it_is_written_again(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await kept(by)
        scale = f"{DEPLOYMENT.format(namespace)}/scale"
        await api.patch(scale, {"spec": {"replicas": 2}}, fieldManager="kubectl-scale")

        refused = await by.cluster.apply(SetReplicas(CHAT, T4, 0))
        piece = (await pieces(by))[f"Deployment/{NAME}"]
        await kept(by)
        done = await by.cluster.apply(SetReplicas(CHAT, T4, 0))

        assert refused.ending is Ending.REFUSED
        assert "kubectl-scale" in refused.note
        assert (piece.state, piece.by, piece.what) == (
            State.DRIFTED,
            "kubectl-scale",
            "spec.replicas",
        )
        assert done == DONE
        assert (await api.get(DEPLOYMENT.format(namespace)))["spec"]["replicas"] == 0


async def test_pods_nobody_keeps_are_deleted_and_others_never(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await nodes.add("T4")
        await by.cluster.apply(SetReplicas(CHAT, T4, 2))
        one, other = await by.replicas(up(2))
        path = f"/api/v1/namespaces/{namespace}/pods/{one.name}"
        await api.patch(path, {"metadata": {"labels": {"pod-template-hash": "none"}}})
        await by.view(lambda _: by.scope.pod(one.name) and not by.scope.pod(one.name).owner)  # type: ignore[union-attr]  # it is there

        refused = await by.cluster.apply(Remove(other.name))
        codes = await kept(by)

        assert refused.ending is Ending.REFUSED
        assert ReasonCode.DISOWNED in codes
        await by.replicas(lambda all_of: one.name not in {r.name for r in all_of})


async def test_what_may_not_be_read_is_said_and_the_rest_is_read(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    reads = [{"apiGroups": ["", "apps"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]
    await grant(api, namespace, "half", reads, everywhere=True)
    account = await issue(api, cluster, namespace, "half")
    async with writer(account.kubeconfig, namespace) as by:
        found = await pieces(by)

        budget = found[f"PodDisruptionBudget/{NAME}"]
        assert budget.state is State.REFUSED
        assert "kubectl create role controlplane-list-poddisruptionbudgets" in budget.why
        assert found[f"Deployment/{NAME}"].state is State.MISSING


async def test_what_left_the_catalogue_is_said_and_stays(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await kept(by)
        other = a_catalogue()
        await by.cluster.swap_catalogue(
            replace(other, models={ModelName("other"): other.models[CHAT]})
        )

        found = await pieces(by)

        left = found[f"Deployment/{NAME}"]
        assert left.state is State.LEFT
        assert left.show == f"kubectl delete deployment {NAME} -n {namespace}"
        assert await api.get(DEPLOYMENT.format(namespace))
