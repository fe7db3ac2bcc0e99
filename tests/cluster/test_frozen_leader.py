"""T4 on the real API server: a leader that freezes and wakes writes nothing any more."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from controlplane.adapters.kubernetes.client import Api
from controlplane.adapters.kubernetes.connecting import connect
from controlplane.adapters.kubernetes.fencing import Fenced, NotLeadingError
from controlplane.adapters.kubernetes.resources import CONFIG_MAPS, Place
from tests.cluster.accounts import Account, grant, issue
from tests.cluster.api import Api as Admin
from tests.cluster.api import Manifest
from tests.cluster.audit import Audit
from tests.cluster.handed import Cluster
from tests.cluster.writer import Reign

LEASES: Manifest = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
MAY_LEAD: Manifest = {**LEASES, "verbs": ["get", "create", "update", "watch"]}
MAY_WRITE: Manifest = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]}


@asynccontextmanager
async def process(account: Account, namespace: str) -> AsyncIterator[asyncio.subprocess.Process]:
    made = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.cluster.candidate",
        str(account.kubeconfig), namespace, account.name,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield made
    finally:
        if made.returncode is None:
            made.kill()
        await made.wait()


async def said(made: asyncio.subprocess.Process, word: str) -> None:
    assert made.stdout is not None
    async with asyncio.timeout(30.0):
        while (await made.stdout.readline()).decode().strip() != word:
            pass


async def writes(api: Admin, namespace: str, who: Account) -> None:
    """Await that this one is writing."""
    path = f"/api/v1/namespaces/{namespace}/configmaps/written"

    def told(found: Manifest) -> str:
        return str(found.get("data", {}).get(who.name))

    before = told(await api.get(path))
    await api.until(path, lambda found: told(found) != before)


@pytest.mark.timeout(120)
async def test_t4_a_leader_that_freezes_and_wakes_writes_nothing_any_more(
    api: Admin, cluster: Cluster, namespace: str
) -> None:
    """Frozen at any moment of its writing, three times; the audit log says who wrote when."""
    about = {"name": "written", "namespace": namespace}
    await api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": about})
    async with AsyncExitStack() as both:
        pair = []
        for name, word in (("cp-0", "leads"), ("cp-1", "")):
            await grant(api, namespace, name, [MAY_LEAD, MAY_WRITE])
            account = await issue(api, cluster, namespace, name)
            running = await both.enter_async_context(process(account, namespace))
            pair.append((account, running))
            if word:
                await said(running, word)
        for _ in range(3):
            (old, of_old), (_, of_new) = pair
            await writes(api, namespace, old)
            os.kill(of_old.pid, signal.SIGSTOP)
            await said(of_new, "leads")
            since = Audit(cluster.audit_log)
            os.kill(of_old.pid, signal.SIGCONT)
            await said(of_old, "follows")

            assert since.writes(old.user) == []
            pair.reverse()


async def test_t4_a_write_that_waited_until_the_lead_was_lost_is_not_sent(
    api: Admin, cluster: Cluster, namespace: str
) -> None:
    reign = Reign()

    async def waits() -> None:
        reign.leading, reign.leader = False, "cp-1"  # lost while the write waited for its turn

    about = {"name": "written", "namespace": namespace}
    await api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": about})
    door = await connect(cluster.admin_kubeconfig)
    ours = Api(door, pace=waits)  # type: ignore[arg-type]  # any wait will do
    place, audit = Place(CONFIG_MAPS, namespace, "written"), Audit(cluster.audit_log)

    for _ in range(2):  # over a new connection, and over one that is there
        reign.leading = True
        with pytest.raises(NotLeadingError, match="cp-1 leads"):
            await Fenced(ours, reign).patch(place, {"data": {"x": "1"}})
        await ours.get(place, dict[str, object])  # what is not fenced is sent
    await ours.close()

    assert audit.writes("admin") == []
    assert "data" not in await api.get(place.path)
