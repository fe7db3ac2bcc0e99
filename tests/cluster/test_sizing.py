"""Who leaves when a real ReplicaSet controller shrinks a Deployment, and whose number it is."""

from controlplane.domain.actions import SetLane, SetReplicas
from controlplane.domain.decisions import DONE, Ending
from controlplane.domain.quantities import ReplicaName
from controlplane.domain.replicas import Lane, Replica
from tests.cluster.accounts import grant, issue
from tests.cluster.api import Api
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes
from tests.cluster.writer import CHAT, NAME, T4, Writer, a_catalogue, up, writer

DEPLOYMENT = "/apis/apps/v1/namespaces/{}/deployments/" + NAME


async def grown(by: Writer, nodes: Nodes, count: int, devices: int = 4) -> list[Replica]:
    await nodes.add("T4", devices=devices)
    assert await by.cluster.apply(SetReplicas(CHAT, T4, count)) == DONE
    return await by.replicas(up(count))


async def test_exactly_the_victims_leave_whatever_the_controller_would_choose(
    cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        replicas = await grown(by, nodes, 4)
        oldest_first = sorted(replicas, key=lambda r: (r.created_at, r.name))
        victims = (oldest_first[0].name, oldest_first[2].name)  # it would take the newest
        serving = SetLane(oldest_first[3].name, Lane.SERVING, oldest_first[3].version)
        await by.cluster.apply(serving)

        outcome = await by.cluster.apply(SetReplicas(CHAT, T4, 2, victims))

        left = await by.replicas(lambda all_of: len(all_of) == 2)
        assert outcome == DONE
        assert {r.name for r in left} == {oldest_first[1].name, oldest_first[3].name}


async def test_a_drained_replica_leaves_though_another_is_still_on_its_way_up(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    """The controller takes what is not ready first; that would be the wrong one."""
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        ready = await grown(by, nodes, 4, devices=4)
        await by.cluster.apply(SetReplicas(CHAT, T4, 5))
        five = await by.replicas(
            lambda all_of: len(all_of) == 5 and any(r.unschedulable_since for r in all_of)
        )
        (waits,) = [r for r in five if r.name not in {one.name for one in ready}]
        drained = ready[0]
        await by.cluster.apply(SetLane(drained.name, Lane.DRAINING, drained.version))

        assert await by.cluster.apply(SetReplicas(CHAT, T4, 4, (drained.name,))) == DONE

        left = await by.replicas(up(4))
        others = {r.name for r in ready[1:]}
        assert others <= {r.name for r in left}
        assert drained.name not in {r.name for r in left}
        live = await api.get(DEPLOYMENT.format(namespace))
        assert live["spec"]["replicas"] == 4
        assert waits.unschedulable_since is not None


async def test_a_number_that_is_as_wanted_is_not_written_again(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await grown(by, nodes, 2)
        before = await api.get(DEPLOYMENT.format(namespace))

        assert await by.cluster.apply(SetReplicas(CHAT, T4, 2)) == DONE

        after = await api.get(DEPLOYMENT.format(namespace))
        assert after["metadata"]["generation"] == before["metadata"]["generation"]


async def test_a_deployment_of_somebody_else_is_refused_with_both_names(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        theirs = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": NAME, "namespace": namespace},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": {"app": "x"}},
                "template": {
                    "metadata": {"labels": {"app": "x"}},
                    "spec": {"containers": [{"name": "x", "image": "x"}]},
                },
            },
        }
        await api.apply(theirs, manager="their-tool")

        outcome = await by.cluster.apply(SetReplicas(CHAT, T4, 3))

        assert outcome.ending is Ending.REFUSED
        assert f"Deployment {NAME} is not managed by controlplane" in outcome.note
        assert "their-tool" in outcome.note
        assert f"kubectl get deployment {NAME} -n {namespace}" in outcome.note
        assert (await api.get(DEPLOYMENT.format(namespace)))["spec"]["replicas"] == 0


async def test_an_autoscaler_on_the_deployment_is_refused_with_both_names(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    """Behaviour T3."""
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await grown(by, nodes, 1)
        await api.create(
            {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "metadata": {"name": "theirs", "namespace": namespace},
                "spec": {
                    "scaleTargetRef": {
                        "apiVersion": "apps/v1",
                        "kind": "Deployment",
                        "name": NAME,
                    },
                    "maxReplicas": 3,
                },
            }
        )
        await by.cluster.standing()

        outcome = await by.cluster.apply(SetReplicas(CHAT, T4, 2))

        assert outcome.ending is Ending.REFUSED
        assert "HorizontalPodAutoscaler theirs" in outcome.note
        assert "controlplane" in outcome.note
        assert f"kubectl get hpa theirs -n {namespace}" in outcome.note


async def test_a_number_that_keda_is_to_write_is_left_to_it(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    catalogue = a_catalogue(writer="keda")
    async with writer(cluster.admin_kubeconfig, namespace, catalogue) as by:
        wanted = {w.key for w in by.cluster._objects.wanted().values()}
        assert f"Deployment/{NAME}" in wanted

        outcome = await by.cluster.apply(SetReplicas(CHAT, T4, 3))

        assert outcome.ending is Ending.DONE
        assert "keda" in outcome.note
        assert await api.items(f"/apis/apps/v1/namespaces/{namespace}/deployments") == []


async def test_who_may_not_write_is_told_the_command_that_grants_it(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    reads = [
        {"apiGroups": ["", "apps", "autoscaling", "policy", "keda.sh"], "resources": ["*"],
         "verbs": ["get", "list", "watch"]},
    ]  # fmt: skip
    await grant(api, namespace, "looker", reads, everywhere=True)
    account = await issue(api, cluster, namespace, "looker")
    async with writer(account.kubeconfig, namespace) as by:
        outcome = await by.cluster.apply(SetReplicas(CHAT, T4, 1))

        assert outcome.ending is Ending.REFUSED
        assert "kubectl create role controlplane-patch-deployments" in outcome.note
        assert "--serviceaccount=" in outcome.note


async def test_victims_that_are_gone_already_are_no_trouble(
    cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await grown(by, nodes, 2)

        outcome = await by.cluster.apply(SetReplicas(CHAT, T4, 1, (ReplicaName("long-gone"),)))

        assert outcome == DONE
