"""The writing half of the adapter on the test cluster, with engines that say what a test tells."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random

from controlplane.adapters.kubernetes.cache import Cache
from controlplane.adapters.kubernetes.client import Api, open_api
from controlplane.adapters.kubernetes.cluster import KubernetesCluster
from controlplane.adapters.kubernetes.fencing import Fenced
from controlplane.adapters.kubernetes.scope import Scope
from controlplane.adapters.kubernetes.view import Sight
from controlplane.clock import Clock
from controlplane.domain.catalogue import Catalogue, Model, Need, NodeClass, Runtime, Variant
from controlplane.domain.decisions import DONE, Outcome
from controlplane.domain.fleet import FleetView
from controlplane.domain.policies import ModelPolicy, ScalingPolicy
from controlplane.domain.quantities import ClassName, ModelName, ReplicaName, Team
from controlplane.domain.replicas import Replica
from controlplane.domain.samples import Zero
from controlplane.domain.serving import Container, Serving
from controlplane.ports import EngineAt, EngineState

CHAT, T4 = ModelName("chat"), ClassName("T4")
NAME = "chat-t4"
PROGRAM = Path(__file__).with_name("answering.py")
CUDA = Runtime(kind="cuda", version="12.8")


def a_catalogue(image: str = "tests/answering", *, deployment: str | None = None,
                writer: str = "controlplane", **serving: object) -> Catalogue:  # fmt: skip
    """One model on one class, whose engine is `answering.py`."""
    asked = {"port": 8080, "longest_request_s": 1.0, "pre_stop_s": 0.0, "pre_pull": "none"}
    return Catalogue(
        node_classes={
            T4: NodeClass(
                vendor="nvidia",
                resource="nvidia.com/gpu",
                vram_gib=15,
                price_per_hour=Decimal("0.5"),
                runtime=CUDA,
                labels={"nvidia.com/gpu.product": "Tesla-T4"},
            )
        },
        models={
            CHAT: Model(
                team=Team("search"),
                need=Need(vram_gib=4),
                policy=ModelPolicy(scaling=ScalingPolicy(writer=writer)),  # type: ignore[arg-type]  # a test's word
                serving=Serving(**{**asked, **serving}),  # type: ignore[arg-type]  # as the last
                variants={
                    T4: Variant(
                        image=image,
                        runtime=CUDA,
                        slots=4,
                        service_s=0.1,
                        deployment=deployment,
                        container=Container(command=(sys.executable, str(PROGRAM))),
                    )
                },
            )
        },
    )


class Told:
    """Engines that are what a test says; at first healthy, warmed up and idle."""

    def __init__(self) -> None:
        self.followed: dict[ReplicaName, EngineAt] = {}
        self.states: dict[ReplicaName, EngineState] = {}
        self.asked: list[tuple[str, ReplicaName]] = []

    def follow(self, engines: Sequence[EngineAt]) -> None:
        self.followed = {each.replica: each for each in engines}

    def state(self, replica: ReplicaName) -> EngineState | None:
        well = EngineState(at=0.0, healthy=True, warmed_up=True, in_flight=Zero(0.0))
        return self.states.get(replica, well) if replica in self.followed else None

    async def warm_up(self, replica: ReplicaName, requests: int) -> Outcome:
        self.asked.append((f"warm-up {requests}", replica))
        return DONE

    async def sleep(self, replica: ReplicaName) -> Outcome:
        self.asked.append(("sleep", replica))
        return DONE

    async def wake_up(self, replica: ReplicaName) -> Outcome:
        self.asked.append(("wake", replica))
        return DONE


@dataclass
class Reign:
    """Leads, unless a test says otherwise."""

    leading: bool = True
    leader: str = "us"
    term: int = 1
    trouble: str = ""


@dataclass
class Writer:
    """All parts of one daemon's adapter."""

    api: Api
    cluster: KubernetesCluster
    scope: Scope
    engines: Told
    reign: Reign
    stirred: asyncio.Event = field(default_factory=asyncio.Event)

    async def view(self, holds: Callable[[FleetView], object], within_s: float = 45.0) -> FleetView:
        """Give the first look that is as wished; every change that is seen is looked at."""
        view: FleetView | None = None
        try:
            async with asyncio.timeout(within_s):
                while True:
                    self.stirred.clear()
                    view = await self.cluster.observe()
                    if holds(view):
                        return view
                    await self.stirred.wait()
        except TimeoutError:
            raise AssertionError(f"not seen within {within_s:g} s: {view}") from None

    async def replicas(
        self, holds: Callable[[Sequence[Replica]], object], within_s: float = 45.0
    ) -> list[Replica]:
        """Give the replicas once they are as wished, sorted by name."""
        view = await self.view(lambda seen: holds(seen.replicas), within_s)
        return sorted(view.replicas, key=lambda replica: replica.name)


@asynccontextmanager
async def writer(
    kubeconfig: Path, namespace: str, catalogue: Catalogue | None = None
) -> AsyncIterator[Writer]:
    """Give a writer whose watches stand."""
    api, stirred = await open_api(kubeconfig), asyncio.Event()
    cache = Cache(api, namespace, stirred.set, Random(1))
    watching = asyncio.create_task(cache.run())
    try:
        assert await cache.ready(20.0), (cache.why_not(cache.nodes), cache.why_not(cache.pods))
        reign, engines = Reign(), Told()
        scope = Scope(api, Fenced(api, reign), Sight(cache), catalogue or a_catalogue())
        cluster = KubernetesCluster(scope, engines, Clock())
        yield Writer(api, cluster, scope, engines, reign, stirred)
    finally:
        watching.cancel()
        await asyncio.wait([watching])
        await api.close()


def up(count: int) -> Callable[[Sequence[Replica]], bool]:
    """Say whether so many replicas run and are ready, and no others are there."""
    return lambda all_of: len(all_of) == count and all(r.healthy and r.ready for r in all_of)
