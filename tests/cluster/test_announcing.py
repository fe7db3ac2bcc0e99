"""Decisions as Events on a real API server: reason = code, counted, found again after a restart."""

from controlplane.adapters.kubernetes.announcing import Announcements, _News
from controlplane.domain.actions import SetReplicas
from controlplane.domain.decisions import DONE, Choice
from controlplane.domain.quantities import ClassName
from controlplane.domain.reasons import Evidence, Reason, ReasonCode
from tests.cluster.api import Api, Manifest
from tests.cluster.handed import Cluster
from tests.cluster.writer import CHAT, NAME, T4, writer

REASON = Reason(ReasonCode.DRAIN_STARTED, 2, 2, (Evidence("replica", "chat-t4-x"),))


def choice(*reasons: Reason) -> Choice:
    action = SetReplicas(CHAT, ClassName(T4), 2)
    return Choice(subject=CHAT, current=2, target=2, trail=reasons, actions=(action,))


async def told(teller: Announcements, *choices: Choice) -> None:
    for one in choices:
        teller.tell(one, DONE)
        while not teller._queue.empty():
            await teller.write(teller._queue.get_nowait())


async def events(api: Api, namespace: str, name: str = NAME) -> list[Manifest]:
    found = await api.items(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")
    ours = [e for e in found if e["reportingController"] == "controlplane.dev/controlplane"]
    return [e for e in ours if e["regarding"]["name"] == name]


async def test_a_decision_is_an_event_on_its_deployment(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await by.cluster.apply(SetReplicas(CHAT, T4, 0))
        deployed = await api.get(f"/apis/apps/v1/namespaces/{namespace}/deployments/{NAME}")

        await told(Announcements(by.scope, "pod-1"), choice(REASON))

        (event,) = await events(api, namespace)
        assert event["reason"] == "DrainStarted"
        assert event["note"] == "Chat-t4-x takes no new requests and finishes its running ones."
        assert event["type"] == "Normal"
        assert event["regarding"]["uid"] == deployed["metadata"]["uid"]


async def test_the_same_said_again_is_counted_even_by_a_daemon_that_started_anew(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        await by.cluster.apply(SetReplicas(CHAT, T4, 0))
        first, second = Announcements(by.scope, "pod-1"), Announcements(by.scope, "pod-2")

        await told(first, choice(REASON), choice(REASON))
        await told(second, choice(REASON))

        (event,) = await events(api, namespace)
        assert event["series"]["count"] == 3


async def test_what_cannot_be_written_is_no_trouble(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        teller = Announcements(by.scope, "pod-1")

        await told(teller, choice(REASON))  # there is no Deployment to hang it on
        await by.cluster.apply(SetReplicas(CHAT, T4, 0))
        by.reign.leading = False
        await teller.write(_News(NAME, REASON, "2026-11-30T00:00:00.000000Z"))

        assert await events(api, namespace) == []
