"""Decisions to and from rows. JSON by msgspec; what was seen stays bytes, `decide.replay` reads it.

msgspec writes an infinite number as null; evidence may be null, so a trail survives that. A code
that this version does not know, because a newer one wrote it and was taken back, costs that reason
its meaning and no row its place in a list.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from controlplane.domain.actions import Action
from controlplane.domain.decisions import Choice, Ending
from controlplane.domain.differences import digest
from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import Evidence, Reason, ReasonCode, Refusal
from controlplane.ports import DecisionRow

encode = msgspec.json.Encoder().encode
Coded = TypeVar("Coded")

_CODES = frozenset(ReasonCode)
_trail = msgspec.json.Decoder(tuple[Reason, ...])
_refused = msgspec.json.Decoder(tuple[Refusal, ...])
_actions = msgspec.json.Decoder(tuple[Action, ...])

decode_actions = _actions.decode


def columns(choice: Choice) -> dict[str, Any]:
    """Give the columns of a choice that do not depend on when and where it is written."""
    seen = encode(choice.seen)
    return {
        "subject": choice.subject,
        "current": choice.current,
        "target": choice.target,
        "decisive": choice.decisive,
        "trail": encode(choice.trail),
        "refused": encode(choice.refused),
        "actions": encode(choice.actions),
        "seen": seen,
        "digest": digest(seen),
    }


def decision_row(row: Mapping[str, Any]) -> DecisionRow:
    """Give a stored decision; `row` has the columns of `decisions` and the world's name."""
    settled_at: Instant | None = row["settled_at"]
    return DecisionRow(
        id=row["id"],
        at=row["at"],
        loop=row["loop"],
        subject=row["subject"],
        current=row["current"],
        target=row["target"],
        decisive=code_of(row["decisive"]),
        trail=_coded(_trail, row["trail"]),
        refused=_coded(_refused, row["refused"]),
        actions=_actions.decode(row["actions"]),
        ending=Ending(row["ending"]),
        note=row["note"],
        settled_at=settled_at,
        repeats=row["repeats"],
        last_at=row["last_at"],
        catalogue_version=row["catalogue_version"],
        world=row["world"],
        seen=row["seen"],
        digest=row["digest"],
    )


def code_of(text: str) -> ReasonCode:
    """Read a code."""
    return ReasonCode(text) if text in _CODES else ReasonCode.OF_ANOTHER_VERSION


def _coded(decoder: msgspec.json.Decoder[Coded], text: bytes) -> Coded:
    try:
        return decoder.decode(text)
    except msgspec.ValidationError:
        said = msgspec.json.decode(text)
        for one in said:
            if one["code"] not in _CODES:
                told = [*one.get("evidence", ()), Evidence("code", one["code"])]
                one.update(code=ReasonCode.OF_ANOTHER_VERSION, evidence=told)
        return decoder.decode(encode(said))
