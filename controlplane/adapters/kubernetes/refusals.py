"""What the API server's no means: one sentence, and for permissions the command that grants it.

Away (no connection, too late, 5xx, throttled) is `ports.UnavailableError`: the cycle is skipped.
Everything else is a refusal, which the caller turns into an outcome. Forbidden is both: a read
that is forbidden cannot be had either.
"""

import re

import msgspec

from controlplane.adapters.kubernetes.resources import Place
from controlplane.ports import UnavailableError

_USER = re.compile(r'User "([^"]+)"')
_ANONYMOUS = "system:anonymous"
_PLAIN = "HTTP request to an HTTPS server"
_UNTYPED = "failed to create typed patch object"  # how an apply of an unknown field is refused
_ACCOUNT = re.compile(r"system:serviceaccount:([^:]+):(.+)")


class Asked(msgspec.Struct, frozen=True):
    """What was asked for; what every sentence begins with."""

    verb: str  # as RBAC names it: get, list, watch, create, update, patch, delete
    place: Place

    def __str__(self) -> str:
        """Say it in words."""
        named = f" {self.place.name}" if self.place.name else ""
        where = f" in namespace {self.place.namespace}" if self.place.namespace else ""
        return f"{self.verb} {self.place.full}{named}{where}"


class Status(msgspec.Struct, frozen=True):
    """The API server's answer to what it did not do."""

    message: str = ""
    reason: str = ""
    code: int = 0


class RefusedError(Exception):
    """The API server answered, and said no."""

    def __init__(self, sentence: str, *, code: int = 0, reason: str = "") -> None:
        """Keep the sentence, the HTTP status and the reason the API server gave."""
        super().__init__(sentence)
        self.code = code
        self.reason = reason


class ForbiddenError(RefusedError, UnavailableError):
    """No permission; the sentence names the command that grants it."""


class MissingError(RefusedError):
    """There is no such object (404)."""


class ConflictError(RefusedError):
    """The object is another by now, or is there already (409)."""


class InvalidError(RefusedError):
    """The API server does not take what was written (400, 415, 422)."""


class GoneError(RefusedError):
    """The version asked for is too old (410): everything is listed anew."""


_KINDS: dict[int, type[RefusedError]] = {
    400: InvalidError,
    404: MissingError,
    409: ConflictError,
    410: GoneError,
    415: InvalidError,
    422: InvalidError,
}


def away(host: str, cause: BaseException) -> UnavailableError:
    """Say that no answer came, and the command that shows why."""
    said = " ".join(str(cause).split()) or "no answer in time"
    shows = f"curl -k {host}/livez shows whether it can be reached"
    if "CERTIFICATE_VERIFY_FAILED" in said:
        shows = "kubectl config view --minify shows the certificate-authority it was held against"
    return UnavailableError(f"the API server at {host}: {said}; {shows}")


def refusal(asked: Asked, code: int, body: bytes) -> Exception:
    """Give the exception for an answer that is not 2xx."""
    try:
        status = msgspec.json.decode(body, type=Status)
    except msgspec.MsgspecError:  # a proxy's page, or nothing
        status = Status(message=body[:200].decode("utf-8", "replace").strip())
    said = status.message or f"HTTP {code}"
    if code == 401:
        sentence = (
            f"{asked}: the API server does not know these credentials (401); "
            f"kubectl auth whoami with the same kubeconfig shows whom it takes them for"
        )
        return UnavailableError(sentence)
    if code == 400 and _PLAIN in said:
        sentence = f"{asked}: the API server speaks HTTPS: its address must begin with https://"
        return InvalidError(sentence, code=code, reason=status.reason)
    if code == 403:
        return ForbiddenError(_forbidden(asked, said), code=code, reason=status.reason)
    if code == 500 and _UNTYPED in said:
        return InvalidError(f"{asked} was refused: {said}", code=code, reason=status.reason)
    if code == 429 or code >= 500:
        return UnavailableError(f"{asked}: the API server cannot answer now ({code}: {said})")
    kind = _KINDS.get(code, RefusedError)
    return kind(f"{asked} was refused: {said}", code=code, reason=status.reason)


def _forbidden(asked: Asked, said: str) -> str:
    """Name verb, resource and namespace, and the command that grants it or shows why not."""
    user = _USER.search(said)
    if user is None:  # an admission policy or a quota, not RBAC: only the server knows
        return f"{asked} is forbidden: {said}"
    if user[1] == _ANONYMOUS:  # no right to give away: whoever asks would have it
        return (
            f"{asked} is forbidden to who shows no credentials, and the kubeconfig's user has "
            "none; kubectl config view --minify shows it"
        )
    needed = asked
    if "cannot create resource" in said:  # an apply is a patch, until there is nothing to patch
        needed = msgspec.structs.replace(asked, verb="create")
    return f"{asked} is forbidden to {user[1]}; this grants it: {grant(needed, user[1])}"


def grant(asked: Asked, user: str) -> str:
    """Give the kubectl command that grants what was refused."""
    place = asked.place
    kind, scope = "clusterrole", ""
    if place.namespace is not None:
        kind, scope = "role", f" -n {place.namespace}"
    name = f"controlplane-{asked.verb}-{place.resource.plural}"
    name = f"{name}-{place.sub}" if place.sub else name
    account = _ACCOUNT.fullmatch(user)
    if account and place.namespace is None:  # another namespace's daemon may have its own
        name = f"{name}-{account[1]}"
    whom = f"--serviceaccount={account[1]}:{account[2]}" if account else f"--user={user}"
    verbs = "get,list,watch" if asked.verb in ("list", "watch") else asked.verb
    return (
        f"kubectl create {kind} {name} --verb={verbs} --resource={place.full}{scope} && "
        f"kubectl create {kind}binding {name} --{kind}={name} {whom}{scope}"
    )
