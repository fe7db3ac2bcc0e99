"""Makes a handler of a route: check the caller and the input, run, answer, write it down."""

from collections.abc import Mapping

from aiohttp import web
from aiohttp.typedefs import Handler

from controlplane.clock import wall
from controlplane.http.api.checking import body_of, params_of
from controlplane.http.api.csv import CSV, as_csv
from controlplane.http.api.route import Call, Route
from controlplane.http.audit import note
from controlplane.http.auth import caller_of, require
from controlplane.http.encoding import encoded
from controlplane.http.problems import ProblemError, bad
from controlplane.http.state import STATE
from controlplane.ports import AuditEntry, UnavailableError


def handler(route: Route, *, as_table: bool = False) -> Handler:
    """Give the handler of a route, or of its CSV twin."""

    async def handle(request: web.Request) -> web.StreamResponse:
        call = Call(request, request.app[STATE], caller_of(request), None)
        try:
            require(request, route.role)
            call.params = params_of(request, route.params, others=route.open_query)
            if route.body is not None:
                call.body = await body_of(request, route.body)
            given = await route.run(call)
        except (ProblemError, UnavailableError) as refusal:
            await _record(route, call, f"refused: {refusal}")
            raise
        except Exception:
            await _record(route, call, "failed")
            raise
        await _record(route, call, "done")
        if isinstance(given, web.StreamResponse):
            return given
        return await answer(route, request, given, as_table=as_table)

    return handle


async def answer(
    route: Route, request: web.Request, given: object, *, as_table: bool = False
) -> web.Response:
    """Give the result as JSON, or as CSV where it is asked for and the route has a table."""
    if as_table or _wants_csv(route, request):
        if route.table is None:
            raise bad("format", "csv", f"is not offered by {route.address}")
        text = as_csv(route.table(given))
        name = f"{route.path.strip('/').replace('/', '-')}.csv"
        return web.Response(text=text, content_type=CSV, headers=_download(name))
    return web.Response(
        body=await encoded(given), content_type="application/json", status=route.status
    )


def _wants_csv(route: Route, request: web.Request) -> bool:
    wanted = request.query.get("format")
    if wanted not in {None, "", "json", "csv"}:
        raise bad("format", wanted, "must be json or csv")
    if wanted:
        return wanted == "csv"
    return route.table is not None and CSV in request.headers.get("Accept", "")


def _download(name: str) -> Mapping[str, str]:
    plain = "".join(c for c in name if c.isalnum() or c in "-_.")
    return {"Content-Disposition": f'attachment; filename="{plain}"'}


async def _record(route: Route, call: Call, ending: str) -> None:
    """Write down who changed what and how it ended, whether it came off or not."""
    if route.audit is None or call.audited:
        return
    entry = AuditEntry(
        at=wall(),
        who=call.caller.name,
        what=route.audit,
        subject=call.subject or "/".join(call.request.match_info.values()),
        detail=call.detail,
        ending=ending,
    )
    await note(call.state, entry)
