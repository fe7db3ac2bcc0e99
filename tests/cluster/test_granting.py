"""Whoever runs the commands that refusals name gets there: none is missing, useless or taken."""

import asyncio

from controlplane.domain.actions import Action, Ensure, SetLane, SetReplicas
from controlplane.domain.decisions import DONE
from controlplane.domain.replicas import Lane
from tests.cluster.api import Api
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes
from tests.cluster.seeing import reading_account
from tests.cluster.test_client import run
from tests.cluster.writer import CHAT, NAME, T4, Writer, up, writer

GRANTS = "this grants it: "


async def carried_out(by: Writer, action: Action, cluster: Cluster, given: list[str]) -> None:
    """Act until it is done, and after each refusal run the command it names, once."""
    async with asyncio.timeout(60.0):
        while (outcome := await by.cluster.apply(action)) != DONE:
            assert GRANTS in outcome.note, outcome.note
            command = outcome.note.split(GRANTS)[1]
            if command not in given:  # else the API server has not heard of the new right yet
                given.append(command)
                await run(command.replace("kubectl", str(cluster.kubectl)), cluster)
            await asyncio.sleep(0.1)


async def test_the_commands_that_refusals_name_lead_from_reading_to_a_fleet_in_service(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    await nodes.add("T4", kubelet="kwok")
    account = await reading_account(api, cluster, namespace)
    given: list[str] = []

    async with writer(account.kubeconfig, namespace) as by:
        await carried_out(by, SetReplicas(CHAT, T4, 2), cluster, given)
        await carried_out(by, Ensure("Service", "chat"), cluster, given)
        await carried_out(by, Ensure("PodDisruptionBudget", NAME), cluster, given)
        await carried_out(by, Ensure("Deployment", NAME), cluster, given)
        one, _ = await by.replicas(up(2))
        await carried_out(by, SetLane(one.name, Lane.SERVING, one.version), cluster, given)
        await carried_out(by, SetReplicas(CHAT, T4, 1), cluster, given)
        await by.replicas(up(1))

    verbs = {tuple(part for part in one.split() if part.startswith("--")) for one in given}
    assert len(verbs) == len(given)
    assert all("clusterrole" not in one for one in given)  # all of it is in one namespace
