"""Alerts ride on scaling's looks, and only the leader tells."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from controlplane.clock import Clock
from controlplane.decide.scaling.inputs import ModelMemory, ScalingMemory, ScalingSeen
from controlplane.domain.alerts import Alert, AlertName
from controlplane.domain.fleet import FleetView
from controlplane.loops.alerting import Alerting
from controlplane.loops.fleet import Fleet
from controlplane.loops.in_memory import MemoryOverrides
from controlplane.simulation.embedded import embedded
from tests.builders import A100, CHAT, NOW, a_catalogue, a_load


@dataclass
class Leader:
    leading: bool = True
    leader: str = "me"
    term: int = 1
    trouble: str = ""


@dataclass
class Told:
    alerts: list[Alert] = field(default_factory=list)

    def __call__(self, alerts: Iterable[Alert], /) -> None:
        self.alerts = list(alerts)


def told(*, leading: bool) -> Told:
    catalogue, clock, told = a_catalogue(), Clock(), Told()
    cluster = embedded(catalogue, clock, 1)
    fleet = Fleet(
        clock=clock,
        cluster=cluster,
        signals=cluster,
        overrides=MemoryOverrides(),
        catalogue=catalogue,
    )
    alerting = Alerting(fleet, Leader(leading), told)
    memory = ScalingMemory(models={CHAT: ModelMemory(short={A100: NOW + 900})})
    for at in (NOW, NOW + 61):
        view = FleetView(at=at, nodes=(), replicas=())
        alerting.note(ScalingSeen(at=at, view=view, loads={CHAT: a_load(at=at)}), memory)
    assert [alert.key.name for alert in alerting.standing] == [AlertName.CLASS_SHORT]
    return told


async def test_the_leader_tells_what_stands() -> None:
    assert [alert.key.what for alert in told(leading=True).alerts] == [A100]


async def test_a_follower_knows_and_does_not_tell() -> None:
    assert told(leading=False).alerts == []
