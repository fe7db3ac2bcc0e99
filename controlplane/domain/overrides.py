"""What people decided by hand. Belongs to the store, not to a world: it survives everything."""

import msgspec

from controlplane.domain.quantities import Instant, ModelName

FLEET = "*"  # the subject that means every model


class Override(msgspec.Struct, frozen=True, kw_only=True):
    """A pause and / or a pin of one model, or of all (`subject` = "*")."""

    subject: str
    paused: bool = False
    pinned: int | None = None
    by: str
    at: Instant


Overrides = dict[str, Override]


def paused(overrides: Overrides, model: ModelName) -> Override | None:
    """Give the override that pauses this model, if one does."""
    for subject in (FLEET, model):
        override = overrides.get(subject)
        if override is not None and override.paused:
            return override
    return None


def pinned(overrides: Overrides, model: ModelName) -> Override | None:
    """Give the override that pins this model, if one does."""
    override = overrides.get(model)
    return override if override is not None and override.pinned is not None else None


class Change(msgspec.Struct, frozen=True):
    """What setting an override did, in words of the audit log."""

    what: str  # pause, resume, pin, unpin, or two of them
    detail: str
    ending: str  # done, or unchanged where it was so already


def change(before: Override | None, after: Override) -> Change:
    """Say what setting an override changes."""
    was_paused = before is not None and before.paused
    was_pinned = before.pinned if before is not None else None
    did = []
    if after.paused != was_paused:
        did.append("pause" if after.paused else "resume")
    if after.pinned != was_pinned:
        did.append("unpin" if after.pinned is None else "pin")
    asked = "pause" if after.paused else "resume" if after.pinned is None else "pin"
    return Change(
        what=" + ".join(did) or asked,
        detail="" if after.pinned is None else f"pinned at {after.pinned}",
        ending="done" if did else "unchanged",
    )
