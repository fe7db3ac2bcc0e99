"""Routes: access tokens and the audit log."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from controlplane.clock import wall
from controlplane.http.access import Role
from controlplane.http.api.route import Call, Route
from controlplane.http.auth import new_secret, secret_hash
from controlplane.http.problems import ProblemError, missing
from controlplane.ports import AuditEntry, Token

DAY_S = 86_400.0


class NewToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token to be made."""

    name: Annotated[
        str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$", description="Who will use it.")
    ]
    role: Annotated[
        Literal["gateway", "viewer", "operator", "admin"], Meta(description="What it may do.")
    ]
    days: Annotated[
        Annotated[float, Meta(gt=0, le=3650)] | None,
        Meta(description="Valid so many days; for good if left out."),
    ] = None


class Secret(msgspec.Struct, frozen=True, kw_only=True):
    """A token with its secret, which is shown this once."""

    token: Token
    secret: str


class Entries(msgspec.Struct, frozen=True):
    """How much of the audit log."""

    limit: Annotated[int, Meta(ge=1, le=5000, description="At most so many, newest first.")] = 200


async def _list(call: Call) -> tuple[Token, ...]:
    return tuple(await call.state.tokens.tokens())


async def _add(call: Call) -> Secret:
    wanted: NewToken = call.body
    call.subject, call.detail = wanted.name, wanted.role
    now = wall()
    token = Token(
        name=wanted.name,
        role=wanted.role,
        created_at=now,
        expires_at=None if wanted.days is None else now + wanted.days * DAY_S,
    )
    secret = new_secret()
    try:
        await call.state.tokens.add(token, secret_hash(secret))
    except ValueError as refused:
        raise ProblemError(409, str(refused)) from None
    call.state.shared.forget("tokens")
    return Secret(token=token, secret=secret)


async def _remove(call: Call) -> Token:
    name = call.subject = call.part("name")
    held = {token.name: token for token in await call.state.tokens.tokens()}
    if name not in held or not await call.state.tokens.remove(name):
        raise missing("token", name)
    call.state.shared.forget("tokens")
    return held[name]


async def _audit(call: Call) -> tuple[AuditEntry, ...]:
    return tuple(await call.state.audit.entries(call.params.limit))


ROUTES = (
    Route(
        method="GET",
        path="/tokens",
        summary="Access tokens, without their secrets.",
        run=_list,
        answer=tuple[Token, ...],
        tag="access",
        role=Role.ADMIN,
        table=lambda rows: rows,
    ),
    Route(
        method="POST",
        path="/tokens",
        summary="Make a token; its secret is answered once and not kept.",
        run=_add,
        answer=Secret,
        tag="access",
        role=Role.ADMIN,
        body=NewToken,
        status=201,
        audit="add token",
        faults=(409,),
    ),
    Route(
        method="DELETE",
        path="/tokens/{name}",
        summary="Take a token away; it stops working at once.",
        run=_remove,
        answer=Token,
        tag="access",
        role=Role.ADMIN,
        audit="remove token",
    ),
    Route(
        method="GET",
        path="/audit",
        summary="Who changed what, newest first.",
        run=_audit,
        answer=tuple[AuditEntry, ...],
        tag="access",
        role=Role.OPERATOR,
        params=Entries,
        table=lambda rows: rows,
    ),
)
