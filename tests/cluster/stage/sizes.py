"""Every size a Deployment has had since somebody began to look: what flickered is seen, too."""

from controlplane.clock import stopwatch
from tests.cluster.api import Api, Manifest
from tests.cluster.stage.following import Following
from tests.cluster.stage.waiting import until


class Sizes(Following):
    """Follows `spec.replicas` of one Deployment."""

    def __init__(self, api: Api, namespace: str, name: str) -> None:
        path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
        super().__init__(api, path, self._look, fieldSelector=f"metadata.name={name}")
        self._name = name
        self.seen: list[int] = []

    @property
    def now(self) -> int | None:
        """Give the size it has; None while there is no such Deployment."""
        return self.seen[-1] if self.seen else None

    async def reach(self, count: int, within_s: float) -> float:
        """Await a size; give how long that took, in seconds."""
        began = stopwatch()

        async def there() -> bool:
            return self.now == count

        await until(there, within_s, lambda: f"{self._name} had the sizes {self.seen}, not {count}")
        return stopwatch() - began

    def _look(self, _kind: str, seen: Manifest) -> None:
        size = seen["spec"]["replicas"]
        if size != self.now:
            self.seen.append(size)
