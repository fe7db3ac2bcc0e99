"""Reads what a browser's form sent; whatever cannot be read is the sender's fault, never ours.

aiohttp decodes while it reads: a charset nobody knows, a boundary that is none or a part without
an end surface as LookupError, ValueError or AssertionError from deep inside.
"""

from aiohttp import web
from multidict import MultiDictProxy

from controlplane.http.problems import ProblemError

Form = MultiDictProxy[str | bytearray | bytes | web.FileField]


async def form_of(request: web.Request) -> Form:
    """Give the fields of a form, or refuse what is none."""
    try:
        return await request.post()
    except (LookupError, ValueError, AssertionError, RuntimeError):
        raise ProblemError(400, "body: the form cannot be read") from None
