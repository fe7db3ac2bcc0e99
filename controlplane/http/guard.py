"""Keeps other web sites from acting through a visitor's browser.

Two ways in are closed. *Cross-site requests*: a page elsewhere posts to us; the browser then names
its Origin, which is not ours. *DNS rebinding*: a page's own name is pointed at 127.0.0.1, so its
requests are "same origin", but the Host header still says that name, which we do not answer to.
Reads are guarded too while the port is on loopback, because there nobody is asked for a token.
"""

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from controlplane.http.access import LOOPBACK_NAMES, Access
from controlplane.http.problems import ProblemError
from controlplane.http.state import STATE

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
PROBES = frozenset({"/healthz", "/readyz"})  # a kubelet calls by address and changes nothing
DEFAULT_PORTS = {"http": 80, "https": 443}


def changes(request: web.Request) -> bool:
    """Say whether the request may change something."""
    return request.method not in SAFE_METHODS


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse what another site may have sent."""
    access = request.app[STATE].access
    if request.path not in PROBES and (changes(request) or access.loopback):
        _check_host(request, access)
    if changes(request):
        _check_origin(request)
    return await handler(request)


def _check_host(request: web.Request, access: Access) -> None:
    host = _parse(f"//{request.headers.get('Host', '')}").hostname or ""
    if host in LOOPBACK_NAMES or host in access.hosts:
        return
    if not access.loopback and _is_address(host):
        return  # a rebound name is never an address
    raise ProblemError(
        403,
        f"Host: {host[:100]!r} is not a name of this daemon; "
        "add it to CONTROLPLANE_HOSTS if it should be",
    )


def _check_origin(request: web.Request) -> None:
    site = request.headers.get("Sec-Fetch-Site", "none")
    origin = request.headers.get("Origin")
    if site not in {"same-origin", "none"}:
        raise ProblemError(403, f"Sec-Fetch-Site: {site[:40]!r} must be same-origin")
    if origin is not None and not _same_origin(origin, request.headers.get("Host", "")):
        raise ProblemError(403, f"Origin: {origin[:100]!r} must be the address of this daemon")


def _same_origin(origin: str, host: str) -> bool:
    """Compare name and port. The scheme may differ: TLS may end at a proxy before us."""
    parts = _parse(origin)
    default = DEFAULT_PORTS.get(parts.scheme)
    if default is None or not parts.hostname:
        return False
    ours = _parse(f"//{host}")
    return (parts.hostname, _port(parts) or default) == (ours.hostname, _port(ours) or default)


def _parse(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "", "", "", "")


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        return -1


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
