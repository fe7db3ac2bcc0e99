"""Who is calling: the operator on loopback without tokens, else the owner of a bearer token.

Only the SHA-256 of a secret is ever compared or stored; secrets have 256 bits of chance, so a slow
hash would protect nothing. A browser sends the same secret in a cookie: HttpOnly, SameSite=Strict.
"""

from hashlib import sha256
from secrets import token_urlsafe
from urllib.parse import quote

from aiohttp import web
from aiohttp.typedefs import Handler

from controlplane.clock import wall
from controlplane.http.access import CALLER, LOCAL, Caller, Role, came_by_loopback
from controlplane.http.errors import wants_page
from controlplane.http.guard import changes
from controlplane.http.problems import ProblemError
from controlplane.http.state import STATE, State

COOKIE = "controlplane_token"
PUBLIC = frozenset({"/healthz", "/readyz", "/login", "/logout"})
API = "/api/"
PUBLIC_FOLDER = "/static/"
MARK = "cp_"  # by which leak scanners and our own logs recognise a secret
TOKENS_KNOWN_S = 5.0  # another process (the CLI) may add the first token


def new_secret() -> str:
    """Make a secret; it is shown once and never stored."""
    return MARK + token_urlsafe(32)


def secret_hash(secret: str) -> str:
    """Give what is stored of a secret."""
    # A header may hold any byte; what is no UTF-8 comes as surrogates and is nobody's secret.
    return sha256(secret.encode(errors="surrogateescape")).hexdigest()


@web.middleware
async def authenticate(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Find the caller and refuse who may not; looking needs a viewer, changing an operator."""
    if request.path in PUBLIC or request.path.startswith(PUBLIC_FOLDER):
        return await handler(request)
    caller = await find_caller(request)
    if caller is None:
        if wants_page(request) and not changes(request):
            raise web.HTTPSeeOther(f"/login?next={quote(request.path_qs, safe='/')}")
        raise ProblemError(
            401,
            "A token is needed: send it as 'Authorization: Bearer …' or log in",
            headers={"WWW-Authenticate": 'Bearer realm="controlplane"'},
        )
    request[CALLER] = caller
    if not request.path.startswith(API):  # whose routes name their roles, and audit refusals
        require(request, Role.OPERATOR if changes(request) else Role.VIEWER)
    return await handler(request)


def caller_of(request: web.Request) -> Caller:
    """Give the caller the middleware found."""
    return request[CALLER]


def require(request: web.Request, role: Role) -> None:
    """Refuse a caller whose role does not reach."""
    caller = request[CALLER]
    if caller.role < role:
        raise ProblemError(403, f"role: {str(caller.role)!r} may not do this; {role} is needed")


async def find_caller(request: web.Request) -> Caller | None:
    """Give the caller, or None where there is no valid token and one is needed."""
    state = request.app[STATE]
    secret = _secret(request)
    if secret is not None:
        return await owner(state, secret)
    return LOCAL if came_by_loopback(request) and await is_open(state) else None


async def is_open(state: State) -> bool:
    """Say whether no token is needed: bound to loopback, and nobody made a token."""
    if not state.access.loopback:
        return False
    return not await state.shared.once("tokens", TOKENS_KNOWN_S, state.tokens.tokens)


async def owner(state: State, secret: str) -> Caller | None:
    """Give whose secret this is; None when it is unknown or has expired."""
    token = await state.tokens.find(secret_hash(secret))
    if token is None or (token.expires_at is not None and token.expires_at <= wall()):
        return None
    return Caller(token.name, Role.named(token.role))


def _secret(request: web.Request) -> str | None:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and secret:
        return secret.strip()
    cookie = request.cookies.get(COOKIE)
    if cookie and changes(request) and "Origin" not in request.headers:
        raise ProblemError(403, "Origin: a change with a cookie must name its origin")
    return cookie or None
