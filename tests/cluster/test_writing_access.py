"""Everything this half does is allowed by the access we ship, and by no more."""

from controlplane.adapters.kubernetes.announcing import Announcements
from controlplane.decide.workloads.cycle import WorkloadsMemory, cycle
from controlplane.domain.actions import Lend, Remove, SetLane, SetReplicas
from controlplane.domain.decisions import DONE
from controlplane.domain.reasons import Reason, ReasonCode
from controlplane.domain.replicas import Lane
from tests.cluster.accounts import daemon_account
from tests.cluster.api import Api
from tests.cluster.audit import Audit
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes
from tests.cluster.test_announcing import choice, told
from tests.cluster.writer import CHAT, T4, Writer, a_catalogue, up, writer


async def a_life(by: Writer, api: Api, namespace: str) -> None:
    """Let replicas come, serve, lend, be disowned and leave, with everything beside them."""
    choices, _ = cycle(await by.cluster.standing(), WorkloadsMemory())
    for one in choices:
        for action in one.actions:
            assert await by.cluster.apply(action) == DONE
    assert await by.cluster.apply(SetReplicas(CHAT, T4, 3)) == DONE
    first, second, third = await by.replicas(up(3))
    assert await by.cluster.apply(SetLane(first.name, Lane.SERVING, first.version)) == DONE
    assert await by.cluster.apply(SetLane(second.name, Lane.WARM, second.version)) == DONE
    assert await by.cluster.apply(Lend(second.name, 2)) == DONE
    teller, reason = Announcements(by.scope, "us"), Reason(ReasonCode.PROMOTED, 0, 1)
    await told(teller, choice(reason), choice(reason))
    await told(Announcements(by.scope, "us, anew"), choice(reason))
    released = f"/api/v1/namespaces/{namespace}/pods/{third.name}"
    await api.patch(released, {"metadata": {"labels": {"pod-template-hash": "none"}}})
    await by.view(lambda _: (pod := by.scope.pod(third.name)) is not None and not pod.owner)
    assert await by.cluster.apply(Remove(third.name)) == DONE
    await by.replicas(lambda all_of: third.name not in {r.name for r in all_of})
    assert await by.cluster.apply(SetReplicas(CHAT, T4, 2, (second.name,))) == DONE


async def test_the_access_we_ship_is_enough(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes, audit: Audit
) -> None:
    account = await daemon_account(api, cluster, namespace)
    await nodes.add("T4", kubelet="kwok")
    catalogue = a_catalogue(pre_pull="daemon-set")
    async with writer(account.kubeconfig, namespace, catalogue) as by:
        await a_life(by, api, namespace)

    assert audit.refused(account.user) == []
    assert audit.writes(account.user)
