"""A stored decision as plain data: codes for scripts, a sentence beside each for people."""

from collections.abc import Iterable
from typing import Any

import msgspec

from controlplane.cli.stored import moment
from controlplane.domain.reasons import Evidence
from controlplane.ports import DecisionRow
from controlplane.render.sentences import clause, headline, sentence


def line(row: DecisionRow, language: str = "en") -> dict[str, Any]:
    """Give what a list shows of a decision."""
    return {
        "id": row.id,
        "at": moment(row.at),
        "loop": row.loop,
        "subject": row.subject,
        "current": row.current,
        "target": row.target,
        "decisive": row.decisive.value,
        "sentence": headline(row.subject, row.current, row.target, row.trail, language),
        "ending": row.ending.value,
        "repeats": row.repeats,
        "last_at": moment(row.last_at),
    }


def whole(row: DecisionRow, language: str = "en") -> dict[str, Any]:
    """Give everything that is stored about a decision."""
    return {
        **line(row, language),
        "trail": [
            {
                "code": reason.code.value,
                "before": reason.before,
                "after": reason.after,
                "evidence": _evidence(reason.evidence),
                "sentence": sentence(reason, language),
            }
            for reason in row.trail
        ],
        "refused": [
            {
                "option": refusal.option,
                "code": refusal.code.value,
                "evidence": _evidence(refusal.evidence),
                "sentence": clause(refusal.code, refusal.evidence, language),
            }
            for refusal in row.refused
        ],
        "actions": msgspec.to_builtins(row.actions),
        "note": row.note,
        "settled_at": None if row.settled_at is None else moment(row.settled_at),
        "catalogue_version": row.catalogue_version,
        "world": row.world,
        "seen": msgspec.Raw(row.seen),
    }


def _evidence(evidence: Iterable[Evidence]) -> list[dict[str, Any]]:
    """Name the parts; stored they are a list without names, for the journal's size."""
    return [
        {"name": seen.name, "value": seen.value, "limit": seen.limit, "unit": seen.unit}
        for seen in evidence
    ]
