"""The variants brought up side by side, each with engines of its own, and taken down again."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from controlplane.domain.entrances import GatewayPolicy
from controlplane.domain.gateway import Endpoint, GatewayPlan, ServedModel
from controlplane.domain.policies import AdmissionPolicy, BreakerPolicy
from controlplane.domain.quantities import ModelName
from controlplane.emulation.load.engines import engines
from controlplane.emulation.load.fronts import admitting, options, passing
from controlplane.emulation.load.sending import Target
from controlplane.emulation.load.variants import Variant
from controlplane.render.envoy.straight import Bucket

PATIENCE_S = 3000.0  # nobody is refused for having waited; an hour is the most Envoy allows


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """What every variant stands before, and what each is given."""

    model: str
    engines: int
    slots: int  # of each engine
    token_s: float
    service_s: float  # mean seconds on a slot
    admission: AdmissionPolicy
    bucket_share: float  # rate of the bucket, as a share of what the slots can serve
    envoy: str | None = None

    @property
    def bucket(self) -> Bucket:
        """Give the bucket: full, it lets through as many as there are slots."""
        slots = self.engines * self.slots
        return Bucket(rate=self.bucket_share * slots / self.service_s, size=slots)


@asynccontextmanager
async def standing(contest: Contest, variants: Sequence[Variant]) -> AsyncIterator[list[Target]]:
    """Bring the variants up; give where each is asked. They end when this does."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="controlplane-load-")))
        targets = []
        for variant in variants:
            behind = await stack.enter_async_context(
                engines(contest.model, contest.engines, contest.slots, contest.token_s)
            )
            given = options(folder / variant.value, contest.envoy)
            plan = _plan(contest, variant, behind)
            front = (
                admitting(plan, given)
                if variant in (Variant.FIFO, Variant.PRIORITY)
                else passing(plan, given, contest.bucket if variant is Variant.BUCKET else None)
            )
            url = await stack.enter_async_context(front)
            targets.append(Target(name=variant.value, url=url, model=contest.model))
        yield targets


def _plan(contest: Contest, variant: Variant, behind: tuple[Endpoint, ...]) -> GatewayPlan:
    """Nothing but admission shall differ: no breaker opens, no replica is left alone."""
    admission = contest.admission
    if variant is Variant.FIFO:
        admission = replace(admission, single_queue=True)
    return GatewayPlan(
        models=(
            ServedModel(
                name=ModelName(contest.model),
                endpoints=behind,
                admission=admission,
                breaker=BreakerPolicy(failures=None, replica_failures=None),
                service_s=contest.service_s,
            ),
        ),
        policy=GatewayPolicy(trust="headers", longest_wait_s=PATIENCE_S),
    )
