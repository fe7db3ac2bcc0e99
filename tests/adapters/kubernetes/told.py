"""Engines that say what a test tells them to have said."""

from controlplane.domain.decisions import DONE, Outcome
from controlplane.domain.quantities import ReplicaName
from controlplane.ports import EngineState


class Told:
    """Engines of which it is told what they said."""

    def __init__(self) -> None:
        self.states: dict[str, EngineState] = {}

    def follow(self, engines: object) -> None: ...

    def state(self, replica: ReplicaName) -> EngineState | None:
        return self.states.get(replica)

    async def warm_up(self, replica: ReplicaName, requests: int) -> Outcome:
        del replica, requests
        return DONE

    async def sleep(self, replica: ReplicaName) -> Outcome:
        del replica
        return DONE

    async def wake_up(self, replica: ReplicaName) -> Outcome:
        del replica
        return DONE
