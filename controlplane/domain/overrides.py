"""What people decided by hand. Belongs to the store, not to a world: it survives everything."""

import msgspec

from controlplane.domain.quantities import Instant, ModelName

FLEET = "*"  # the subject that means every model


class Isolation(msgspec.Struct, frozen=True, kw_only=True):
    """A model that was taken out of traffic: its requests are refused at once."""

    by: str
    at: Instant
    why: str = ""  # in that person's words


class Override(msgspec.Struct, frozen=True, kw_only=True):
    """A pause, a pin, an isolation of one model; a pause also of all (`subject` = "*")."""

    subject: str
    paused: bool = False
    pinned: int | None = None
    isolated: Isolation | None = None
    by: str  # who set it last
    at: Instant

    @property
    def holds(self) -> bool:
        """Say whether anything is set at all."""
        return self.paused or self.pinned is not None or self.isolated is not None


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


def isolated(overrides: Overrides) -> dict[ModelName, Isolation]:
    """Give the models that people took out of traffic."""
    return {
        ModelName(subject): override.isolated
        for subject, override in overrides.items()
        if override.isolated is not None
    }


class Change(msgspec.Struct, frozen=True):
    """What setting an override did, in words of the audit log."""

    what: str  # pause, resume, pin, unpin, isolate, rejoin, or several of them
    detail: str
    ending: str  # done, or unchanged where it was so already


def change(before: Override | None, after: Override) -> Change:
    """Say what setting an override changes."""
    was = before or Override(subject=after.subject, by=after.by, at=after.at)
    did = []
    if after.paused != was.paused:
        did.append("pause" if after.paused else "resume")
    if after.pinned != was.pinned:
        did.append("unpin" if after.pinned is None else "pin")
    if (after.isolated is None) != (was.isolated is None):
        did.append("rejoin" if after.isolated is None else "isolate")
    asked = "pause" if after.paused else "resume" if after.pinned is None else "pin"
    if not did and after.isolated is not None and after.isolated != was.isolated:
        asked = "isolate"
    told = [] if after.pinned is None else [f"pinned at {after.pinned}"]
    if after.isolated is not None and after.isolated != was.isolated and after.isolated.why:
        told.append(after.isolated.why)
    return Change(
        what=" + ".join(did) or asked,
        detail="; ".join(told),
        ending="done" if did else "unchanged",
    )
