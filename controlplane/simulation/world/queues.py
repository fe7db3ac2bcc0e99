"""Who waits at a front door of the world, and what became of those who came."""

from typing import NamedTuple

from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import Instant
from controlplane.domain.queues import ClassQueue, ModelQueue, Passed, between
from controlplane.domain.reasons import ReasonCode
from controlplane.simulation.world.station import Station


class Look(NamedTuple):
    """What had been counted at one moment."""

    at: Instant
    passed: tuple[Passed, ...]  # by rank


def look(station: Station, at: Instant) -> Look:
    """Count now. In the world nobody leaves a queue, so whoever is not refused is admitted."""
    book, admission = station.book, station.admission
    book.count(station.source.index)
    refused = book.refused()
    passed = tuple(
        Passed(
            arrived=tally.arrived,
            admitted=tally.arrived - sum(refused[rank].values()) - admission.queued[rank],
            aged=book.by_turn[rank][ReasonCode.AGED],
            minimum=book.by_turn[rank][ReasonCode.MINIMUM_SERVICE],
            refused=refused[rank],
        )
        for rank, tally in enumerate(book.by_rank)
    )
    return Look(at, passed)


def queue(station: Station, now: Look, then: Look, since: Instant) -> ModelQueue:
    """Give how it is now, and what lies between two looks."""
    admission = station.admission
    oldest = {ticket.rank: station.now - ticket.arrived for ticket in admission.heads()}
    return ModelQueue(
        at=now.at,
        since=since,
        lately_s=now.at - then.at,
        slots=admission.slots,
        lent=admission.lent,
        ready=station.slots.serving,
        classes={
            priority: ClassQueue(
                waiting=admission.queued[rank],
                oldest_s=oldest.get(rank, 0.0),
                in_flight=admission.in_flight[rank],
                lately=between(now.passed[rank], then.passed[rank]),
                counted=now.passed[rank],
            )
            for rank, priority in enumerate(PRIORITIES)
        },
    )
