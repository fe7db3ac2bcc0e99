"""What the API server wrote down about every request: who did what, and whether they might."""

from pathlib import Path

import msgspec

WRITES = {"create", "update", "patch", "delete", "deletecollection"}


_POD = "authentication.kubernetes.io/pod-name"


class _User(msgspec.Struct):
    username: str = ""  # a request that was not let in has none
    extra: dict[str, tuple[str, ...]] = {}


class _Object(msgspec.Struct):
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""


class _Answer(msgspec.Struct):
    code: int = 200


class Request(msgspec.Struct, rename="camel"):
    """One request, as the audit log has it."""

    verb: str
    user: _User
    stage: str
    request_uri: str = msgspec.field(name="requestURI", default="")
    user_agent: str = ""
    request_received_timestamp: str = ""  # UTC, to the microsecond
    object_ref: _Object = msgspec.field(default_factory=_Object)
    response_status: _Answer = msgspec.field(default_factory=_Answer)

    @property
    def writes(self) -> bool:
        return self.verb in WRITES

    @property
    def pod(self) -> str:
        """Name the pod whose token it was."""
        return next(iter(self.user.extra.get(_POD, ())), "")

    @property
    def forbidden(self) -> bool:
        return self.response_status.code == 403

    @property
    def right(self) -> tuple[str, ...]:
        """Give what has to be granted for it."""
        place = self.object_ref
        return (self.verb, place.resource, place.subresource, place.namespace)

    @property
    def what(self) -> str:
        """Name it for a failing test."""
        place = self.object_ref
        kind = f"{place.resource}/{place.subresource}" if place.subresource else place.resource
        return f"{self.verb} {kind} {place.namespace}/{place.name} {self.response_status.code}"


class Audit:
    """The log from here on."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._from = log.stat().st_size if log.exists() else 0

    def requests(self, user: str | None = None) -> list[Request]:
        """Give the requests that ended since then, of one user if named."""
        with self._log.open("rb") as log:
            log.seek(self._from)
            *lines, _ = log.read().split(b"\n")  # the last one may be half written
        decoder = msgspec.json.Decoder(Request)
        found = [decoder.decode(line) for line in lines]
        return [
            request
            for request in found
            if request.stage == "ResponseComplete" and user in {None, request.user.username}
        ]

    def writes(self, user: str) -> list[str]:
        """Name what a user wrote, or tried to."""
        return [request.what for request in self.requests(user) if request.writes]

    def refused(self, user: str) -> list[str]:
        """Name what a user was forbidden."""
        return [request.what for request in self.requests(user) if request.forbidden]

    def lacked(self, user: str) -> list[str]:
        """Name what a user was forbidden and never allowed: a right it has not.

        An API server that has just started refuses until it has read its rules.
        """
        asked = self.requests(user)
        allowed = {one.right for one in asked if not one.forbidden}
        return [one.what for one in asked if one.forbidden and one.right not in allowed]
