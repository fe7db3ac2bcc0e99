"""Every write to the cluster, let through only while this daemon leads (behaviour T4).

Whoever asks to write goes through here, so there is one place that says no, and one that turns the
API server's no into an outcome.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager

from controlplane.adapters.kubernetes.client import MERGE, Api, Manifest
from controlplane.adapters.kubernetes.last_look import asked_before_sending
from controlplane.adapters.kubernetes.refusals import ConflictError, MissingError, RefusedError
from controlplane.adapters.kubernetes.resources import Place
from controlplane.domain.decisions import Ending, Outcome
from controlplane.ports import Leadership


class NotLeadingError(Exception):
    """Another daemon leads; the text names it."""


class WrittenByAnotherError(Exception):
    """What was to be written is another's; one sentence with both names."""


REFUSALS = (NotLeadingError, WrittenByAnotherError, RefusedError)


class Fenced:
    """The writing half of an API server."""

    def __init__(self, api: Api, leadership: Leadership) -> None:
        """Write through this API while this daemon leads."""
        self._api = api
        self._leadership = leadership

    async def patch(
        self, place: Place, change: Manifest | Sequence[Manifest], *, form: str = MERGE
    ) -> Manifest:
        """Change an object."""
        with self._still_leading():
            return await self._api.patch(place, change, form=form)

    async def apply(self, place: Place, manifest: Manifest, *, force: bool = False) -> Manifest:
        """Make an object so."""
        with self._still_leading():
            return await self._api.apply(place, manifest, force=force)

    async def create(self, place: Place, manifest: Manifest) -> Manifest:
        """Create an object."""
        with self._still_leading():
            return await self._api.create(place, manifest)

    async def delete(self, place: Place, *, uid: str | None = None) -> None:
        """Delete an object, if it is still the one with this uid."""
        with self._still_leading():
            await self._api.delete(place, uid=uid)

    def _still_leading(self) -> AbstractContextManager[None]:
        """Check now, and once more when the first byte is about to go."""
        self.check()
        return asked_before_sending(self.check)

    def check(self) -> None:
        """Raise unless this daemon leads."""
        if not self._leadership.leading:
            leader = self._leadership.leader or "nobody, as far as is known"
            raise NotLeadingError(f"not the leader: {leader} leads")


def refused(note: str) -> Outcome:
    """Say no, and why."""
    return Outcome(Ending.REFUSED, note)


def outcome_of(cause: Exception, subject: str) -> Outcome:
    """Give the outcome that stands for a write that was not done."""
    if isinstance(cause, MissingError):
        return refused(f"{subject} does not exist")
    if isinstance(cause, ConflictError):
        return refused(f"{subject} has changed since it was looked at: {cause}")
    return refused(str(cause))
