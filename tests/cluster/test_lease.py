"""Who leads, on the real API server: taking, following, handing over, losing it."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable

import pytest

from controlplane.adapters.kubernetes.client import Api, open_api
from controlplane.adapters.kubernetes.lease import LeaseElection
from controlplane.clock import stopwatch
from tests.cluster.accounts import grant, issue
from tests.cluster.api import Api as Admin
from tests.cluster.api import Manifest
from tests.cluster.candidate import QUICK
from tests.cluster.handed import Cluster

MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
LEASES: Manifest = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
MAY_LEAD: Manifest = {**LEASES, "verbs": ["get", "create", "update", "watch"]}
MAY_WRITE: Manifest = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]}


def path(namespace: str) -> str:
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/controlplane"


class Candidate:
    """An election that runs, and what became of it."""

    def __init__(self, election: LeaseElection) -> None:
        self.election, self._turned = election, asyncio.Event()
        election.changed = self._turned.set
        self._task = asyncio.create_task(election.run())

    async def until(self, holds: Callable[[LeaseElection], bool], within_s: float = 15.0) -> float:
        """Await a state, and say how long it took."""
        began = stopwatch()
        async with asyncio.timeout(within_s):
            while not holds(self.election):
                try:
                    async with asyncio.timeout(0.05):  # `leading` also changes by time alone
                        await self._turned.wait()
                    self._turned.clear()
                except TimeoutError:
                    continue
        return stopwatch() - began

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])


def leads(election: LeaseElection) -> bool:
    return election.leading


@pytest.fixture
async def ours(cluster: Cluster) -> AsyncIterator[Api]:
    made = await open_api(cluster.admin_kubeconfig)
    yield made
    await made.close()


@pytest.fixture
async def stand(ours: Api, namespace: str) -> AsyncIterator[Callable[[str], Candidate]]:
    """Let somebody stand for election."""
    standing: list[Candidate] = []

    def stood(name: str) -> Candidate:
        standing.append(Candidate(LeaseElection(ours, namespace, name, times=QUICK)))
        return standing[-1]

    yield stood
    for candidate in standing:
        await candidate.end()


Stand = Callable[[str], Candidate]


async def test_one_leads_the_other_follows_and_knows_whom(
    api: Admin, namespace: str, stand: Stand
) -> None:
    first = stand("cp-0")
    await first.until(leads)
    second = stand("cp-1")
    await second.until(lambda election: election.leader == "cp-0")

    lease = await api.get(path(namespace))
    spec = lease["spec"]

    assert not second.election.leading
    assert first.election.leader == "cp-0"
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"]) == ("cp-0", 4)
    assert spec["leaseTransitions"] == 0
    assert MICRO_TIME.fullmatch(spec["acquireTime"])
    assert MICRO_TIME.fullmatch(spec["renewTime"])
    await api.until(path(namespace), lambda found: found["spec"]["renewTime"] > spec["renewTime"])
    assert (await api.get(path(namespace)))["spec"]["acquireTime"] == spec["acquireTime"]


async def test_of_five_that_start_at_once_one_leads(stand: Stand) -> None:
    candidates = [stand(f"cp-{number}") for number in range(5)]
    waiting = [asyncio.create_task(candidate.until(leads)) for candidate in candidates]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for candidate in candidates:
        await candidate.until(lambda election: bool(election.leader))

    assert sum(candidate.election.leading for candidate in candidates) == 1
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)


async def test_a_leader_that_stops_hands_over_at_once_and_the_change_is_counted(
    api: Admin, namespace: str, stand: Stand
) -> None:
    first = stand("cp-0")
    await first.until(leads)
    second = stand("cp-1")
    await second.until(lambda election: election.leader == "cp-0")

    await first.end()
    await first.election.release()
    took_s = await second.until(leads)
    spec = (await api.get(path(namespace)))["spec"]

    assert not first.election.leading
    assert took_s < 0.5
    assert (spec["holderIdentity"], spec["leaseTransitions"]) == ("cp-1", 1)
    assert spec["leaseDurationSeconds"] == 4


async def test_a_leader_that_dies_is_followed_after_the_lease_ran_out(stand: Stand) -> None:
    first = stand("cp-0")
    await first.until(leads)
    second = stand("cp-1")
    await second.until(lambda election: election.leader == "cp-0")

    await first.end()  # without a release
    took_s = await second.until(leads)

    assert QUICK.duration_s - QUICK.retry_s <= took_s <= QUICK.duration_s + 2 * QUICK.retry_s + 1.0


async def test_what_others_wrote_on_the_lease_stays(
    api: Admin, namespace: str, stand: Stand
) -> None:
    leader = stand("cp-0")
    await leader.until(leads)
    await api.patch(path(namespace), {"metadata": {"labels": {"team": "platform"}}})
    before = (await api.get(path(namespace)))["spec"]["renewTime"]

    lease = await api.until(path(namespace), lambda one: one["spec"]["renewTime"] > before)

    assert lease["metadata"]["labels"] == {"team": "platform"}
    assert leader.election.term == 1


async def test_a_lease_that_somebody_takes_by_force_is_lost_before_its_deadline(
    api: Admin, namespace: str, stand: Stand
) -> None:
    leader = stand("cp-0")
    await leader.until(leads)

    await api.patch(path(namespace), {"spec": {"holderIdentity": "somebody"}})

    assert await leader.until(lambda election: not election.leading) < QUICK.renew_deadline_s
    assert leader.election.leader == "somebody"


async def test_a_lease_that_was_deleted_is_made_anew(
    api: Admin, namespace: str, stand: Stand
) -> None:
    leader = stand("cp-0")
    await leader.until(leads)
    await api.delete(path(namespace))

    made = await api.until(path(namespace), lambda one: one["spec"]["holderIdentity"] == "cp-0")

    assert leader.election.leading
    assert made["spec"]["leaseTransitions"] == 0


async def test_without_permission_it_says_which_command_grants_it(
    api: Admin, cluster: Cluster, namespace: str
) -> None:
    await grant(api, namespace, "guest", [])
    account = await issue(api, cluster, namespace, "guest")
    theirs = await open_api(account.kubeconfig)
    candidate = Candidate(LeaseElection(theirs, namespace, "cp-0", times=QUICK))

    await candidate.until(lambda election: bool(election.trouble))
    await candidate.end()
    await theirs.close()

    assert "get leases.coordination.k8s.io controlplane" in candidate.election.trouble
    assert "kubectl create role" in candidate.election.trouble
    assert candidate.election.leader == ""


async def test_while_the_api_server_is_away_nobody_leads_and_then_the_same_one_goes_on(
    cluster: Cluster, stand: Stand
) -> None:
    leader = stand("cp-0")
    await leader.until(leads)
    await cluster.stop_api_server()
    try:
        away_s = await leader.until(lambda election: not election.leading)
    finally:
        await cluster.start_api_server()

    assert away_s < QUICK.renew_deadline_s + 0.5
    await leader.until(leads, 30.0)
    assert leader.election.term == 2  # somebody might have led in between
