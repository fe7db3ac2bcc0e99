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
