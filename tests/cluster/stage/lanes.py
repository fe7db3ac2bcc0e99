"""A model's pods by lane, as the API server has them: how tests see what the daemon did."""

from collections.abc import Callable

from tests.cluster.api import Api, Manifest
from tests.cluster.stage.waiting import until

LANE = "controlplane.dev/lane"
MODEL = "controlplane.dev/model"


class Lanes:
    """Looks at one model's pods."""

    def __init__(self, api: Api, namespace: str, model: str = "chat") -> None:
        self._api = api
        self._path = f"/api/v1/namespaces/{namespace}/pods"
        self._model = model

    async def pods(self, lane: str | None = None) -> list[Manifest]:
        """Give the pods that are not on their way out, all or those in a lane."""
        listed = await self._api.items(self._path, labelSelector=f"{MODEL}={self._model}")
        here = [pod for pod in listed if "deletionTimestamp" not in pod["metadata"]]
        return [pod for pod in here if lane is None or _lane(pod) == lane]

    async def names(self, lane: str) -> set[str]:
        """Name the pods in a lane."""
        return {pod["metadata"]["name"] for pod in await self.pods(lane)}

    async def count(self, lane: str | None = None) -> int:
        """Count the pods in a lane."""
        return len(await self.pods(lane))

    async def settle(self, within_s: float = 60.0, /, **counts: int) -> None:
        """Await so many pods in each lane named, e.g. `serving=2, warm=1`."""
        seen: dict[str, int] = {}

        def as_wished(pods: list[Manifest]) -> bool:
            seen.clear()
            seen.update({lane: sum(_lane(pod) == lane for pod in pods) for lane in counts})
            return seen == counts

        await self.until(as_wished, within_s, lambda: f"{seen} instead of {counts}")

    async def until(
        self,
        holds: Callable[[list[Manifest]], bool],
        within_s: float = 60.0,
        told: Callable[[], str] = lambda: "not as wished",
    ) -> None:
        """Await that the pods are as wished."""

        async def as_wished() -> bool:
            return holds(await self.pods())

        await until(as_wished, within_s, lambda: f"{self._model}: {told()}")


def _lane(pod: Manifest) -> str:
    lane: str = pod["metadata"]["labels"].get(LANE, "loading")
    return lane


def node_of(pod: Manifest) -> str:
    """Name the node a pod is on."""
    name: str = pod["spec"].get("nodeName", "")
    return name
