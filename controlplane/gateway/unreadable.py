"""Connections whose requests cannot be read: told so in the form of every other refusal.

Long headers are 431 and not 400, and what strangers send to an open port fills no log.
"""

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong

from controlplane.gateway.hops import own
from controlplane.render.envoy.answers import LONG_HEADERS, NO_REQUEST

MANY = "Too many headers"  # the parser has no error of its own for it


class Connection(web.RequestHandler):
    """One client's connection."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what could not be read; faults of our own are logged as ever."""
        if not isinstance(exc, HttpProcessingError):
            return super().handle_error(request, status, exc, message)
        long = isinstance(exc, LineTooLong) or exc.message.startswith(MANY)
        answer = own(LONG_HEADERS if long else NO_REQUEST)
        answer.force_close()
        return answer
