"""Log in with a token: the browser keeps it in a cookie that scripts and other sites cannot use."""

from urllib.parse import urlsplit

from aiohttp import web

from controlplane.clock import wall
from controlplane.http.audit import note
from controlplane.http.auth import COOKIE, owner
from controlplane.http.forms import form_of
from controlplane.http.frame import LOGIN_PAGE
from controlplane.http.state import STATE
from controlplane.ports import AuditEntry

KEPT_S = 30 * 86_400
WRONG = "That token is not known here, or has expired."
FORM = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>controlplane</title>"
    "<form method=post><label>Token <input name=token type=password autocomplete=off required>"
    "</label><button>Log in</button></form>"
)


async def show_login(request: web.Request) -> web.Response:
    """Show the form."""
    return await _form(request, wrong=False)


async def log_in(request: web.Request) -> web.StreamResponse:
    """Take the token and go where the reader wanted to."""
    form = await form_of(request)
    secret = form.get("token")
    caller = await owner(request.app[STATE], secret.strip()) if isinstance(secret, str) else None
    if caller is None or not isinstance(secret, str):
        return await _form(request, wrong=True)
    entry = AuditEntry(
        at=wall(), who=caller.name, what="log in", subject=caller.name, detail="", ending="done"
    )
    await note(request.app[STATE], entry)
    response = web.HTTPSeeOther(own_address(request.query.get("next", "/")))
    response.set_cookie(
        COOKIE,
        secret.strip(),
        max_age=KEPT_S,
        path="/",
        httponly=True,
        samesite="Strict",
        secure=_over_tls(request),
    )
    raise response


async def log_out(_request: web.Request) -> web.StreamResponse:
    """Forget the token."""
    response = web.HTTPSeeOther("/login")
    response.del_cookie(COOKIE, path="/", httponly=True, samesite="Strict")
    raise response


def own_address(wish: str) -> str:
    """Give an address of ours; whatever leads elsewhere becomes the first page."""
    plain = wish.replace("\\", "/")
    if not plain.startswith("/") or plain.startswith("//") or not plain.isprintable():
        return "/"
    try:
        parts = urlsplit(plain)
    except ValueError:
        return "/"
    return "/" if parts.scheme or parts.netloc else wish


def _over_tls(request: web.Request) -> bool:
    """Say whether the browser speaks TLS, to us or to a proxy that says so."""
    return request.secure or request.headers.get("Origin", "").startswith("https://")


async def _form(request: web.Request, *, wrong: bool) -> web.Response:
    render = request.app.get(LOGIN_PAGE)
    detail = WRONG if wrong else ""
    text = FORM if render is None else await render(request, detail)
    return web.Response(text=text, content_type="text/html", status=401 if wrong else 200)
