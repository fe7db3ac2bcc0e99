"""Every failure becomes one honest answer: problem+json for programs, a page for people.

Nothing of the inside reaches the caller: an unexpected exception is logged with its traceback and
answered with a sentence that says only that it was ours.
"""

from html import escape

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

from controlplane.http.access import CALLER
from controlplane.http.frame import ERROR_PAGE
from controlplane.http.problems import ProblemError, problem_response, title
from controlplane.ports import UnavailableError

log = structlog.get_logger(__name__)

SENTENCES = {
    400: "The request could not be read.",
    404: "There is nothing at this address.",
    405: "This address does not take that method.",
    413: "The request is larger than is accepted.",
}
OURS = "The fault is ours; it was logged. Nothing was changed beyond what the audit log says."


@web.middleware
async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn what was raised into an answer."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        problem = _from_aiohttp(error)
    except ProblemError as error:
        problem = error
    except UnavailableError as error:
        problem = ProblemError(503, f"Not available now: {error}", headers={"Retry-After": "5"})
    except ConnectionResetError:
        raise  # the client left; there is nobody to answer
    except Exception:
        log.exception("request failed", method=request.method, path=request.path)
        problem = ProblemError(500, OURS)
    return await answer(request, problem)


def _from_aiohttp(error: web.HTTPException) -> ProblemError:
    """Word one of aiohttp's own errors; its text may quote the request, so it is not passed on."""
    headers = {name: error.headers[name] for name in ("Allow",) if name in error.headers}
    return ProblemError(
        error.status, SENTENCES.get(error.status, title(error.status) + "."), headers=headers
    )


def wants_page(request: web.Request) -> bool:
    """Say whether a person is looking: a browser asking for something that is no API address."""
    if request.path.startswith("/api/") or "HX-Request" in request.headers:
        return False
    return "text/html" in request.headers.get("Accept", "")


async def answer(request: web.Request, problem: ProblemError) -> web.Response:
    """Give the answer in the form the caller can read."""
    if not wants_page(request):
        return problem_response(request.path, problem)
    return web.Response(
        status=problem.status,
        text=await _page(request, problem),
        content_type="text/html",
        headers=problem.headers,
    )


async def _page(request: web.Request, problem: ProblemError) -> str:
    words = title(problem.status)
    render = request.app.get(ERROR_PAGE)
    # The usual frame shows the fleet; who is not let in, by guard or login, sees none of it.
    if render is not None and CALLER in request:
        try:
            return await render(request, problem.status, words, problem.detail)
        except Exception:
            log.exception("error page failed", path=request.path)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        f"<title>{problem.status} {escape(words)}</title>"
        f"<h1>{problem.status} {escape(words)}</h1><p>{escape(problem.detail)}</p>"
    )
