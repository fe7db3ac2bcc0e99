"""Law 4 on a real cluster: a daemon may die before any write, and every prefix is a safe state."""

import asyncio

import pytest

from controlplane.settings import parse_catalogue
from tests.cluster.api import Api, Manifest
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.lanes import LANE
from tests.cluster.stage.life import Stored, live
from tests.cluster.stage.scene import Scene

pytestmark = pytest.mark.timeout(400)  # engines load, nodes fall silent, plans take their time

MOST_WRITES = 40  # a plan takes about a dozen


class Watcher:
    """Sees every state of every pod, and notes what must never be."""

    def __init__(self, api: Api, namespace: str) -> None:
        self._api = api
        self._path = f"/api/v1/namespaces/{namespace}/pods"
        self.wrong: list[str] = []

    async def watch(self) -> None:
        while True:
            async for kind, pod in self._api.watch(self._path):
                self._look(kind, pod)

    def _look(self, kind: str, pod: Manifest) -> None:
        meta = pod["metadata"]
        if meta["labels"].get(LANE) != "serving":
            return
        if "controlplane.dev/warmed-up" not in meta.get("annotations", {}):
            self.wrong.append(f"{meta['name']} serves and was never warmed up")
        if kind != "DELETED" and "deletionTimestamp" in meta:
            self.wrong.append(f"{meta['name']} was deleted while it served")


async def test_a_daemon_that_dies_before_any_write_gets_there_after_all_and_harms_nothing(
    stage: Scene,
) -> None:
    """Each life lasts one write longer than the one before, so plans are cut at every step."""
    await stage.nodes.add("T4", 1, zone="z1")
    stored, watcher = Stored(), Watcher(stage.api, stage.namespace)
    watching = asyncio.ensure_future(watcher.watch())
    deaths = 0
    for least in (1, 2, 1):
        text = fleet_text(least=least, load_s=0.2, stabilisation_s=3.0)
        catalogue = parse_catalogue(text, "fleet.yaml")

        async def there(wanted: int = least) -> bool:
            pods = await stage.lanes.pods()
            lanes = sorted(pod["metadata"]["labels"].get(LANE, "loading") for pod in pods)
            return lanes == ["serving"] * wanted + ["warm"]

        for writes in range(MOST_WRITES):
            if await live(
                stage.account.kubeconfig, stage.namespace, catalogue, stored,
                writes=writes, until=there,
            ):  # fmt: skip
                break
            deaths += 1
        else:
            raise AssertionError(f"{deaths} deaths, and not there yet")
    watching.cancel()

    assert deaths > 5
    assert watcher.wrong == []
