"""Law 4 on a real cluster: a daemon may die before any write, and every prefix is a safe state."""

import pytest

from controlplane.settings import parse_catalogue
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.lanes import LANE
from tests.cluster.stage.life import Stored, live
from tests.cluster.stage.scene import Scene

pytestmark = pytest.mark.timeout(400)  # engines load, nodes fall silent, plans take their time

MOST_WRITES = 40  # a plan takes about a dozen


async def test_a_daemon_that_dies_before_any_write_gets_there_after_all_and_harms_nothing(
    stage: Scene,
) -> None:
    """Each life lasts one write longer than the one before, so plans are cut at every step."""
    await stage.nodes.add("T4", 1, zone="z1")
    stored, deaths = Stored(), 0
    async with stage.histories() as seen:
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

    assert deaths > 5
    assert sum("serving" in lanes for lanes in seen.lanes.values()) >= 2
    assert seen.wrong == []
