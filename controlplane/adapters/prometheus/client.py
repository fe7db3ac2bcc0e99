"""Prometheus's HTTP API: instant and range queries, and what may come back instead of an answer.

The status is read before the body: a 503 whose body says 0 is no 0. Values are text, NaN and +Inf
among them; turning them into samples is for others. Warnings come with partial answers (Thanos says
so when a store is away): the answer is used, and the warning shown beside it. An empty result is an
answer, and not a zero.

No time is sent along with an instant query: the server's own clock decides, so that ours may be
wrong by half a minute without shifting a window.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Self

import msgspec
from aiohttp import ClientError, ClientSession, ClientTimeout

from controlplane.domain.samples import Absence, Bad, NoData
from controlplane.domain.sources import PrometheusSource, shown

UNREADABLE = (msgspec.MsgspecError, RecursionError)  # no JSON, another shape, or too deep
MOST_POINTS = 11_000  # of a series; a range query for more is refused by the server
LARGEST = 64 * 2**20  # bytes of an answer


class Point(NamedTuple):
    """A value as it was written, and when it was so by the server's clock."""

    at: float
    value: str


class Series(msgspec.Struct, frozen=True):
    """One series of an answer."""

    labels: Mapping[str, str]
    points: tuple[Point, ...]

    @property
    def last(self) -> str:
        """The newest value."""
        return self.points[-1].value


class Answer(NamedTuple):
    """What a query gave."""

    series: tuple[Series, ...]
    warnings: tuple[str, ...] = ()


class QueryError(Exception):
    """There was no answer: `sample` says so for arithmetic, the text for people."""

    def __init__(self, sample: NoData | Bad, text: str) -> None:
        """Keep both."""
        self.sample = sample
        super().__init__(text)


class _Result(msgspec.Struct):
    metric: dict[str, str] = {}
    value: tuple[float, str] | None = None
    values: list[tuple[float, str]] = []


class _Payload(msgspec.Struct, rename="camel"):
    result_type: str = ""
    result: msgspec.Raw = msgspec.Raw(b"[]")


class _Envelope(msgspec.Struct, rename="camel"):
    status: str
    data: _Payload | None = None
    error_type: str = ""
    error: str = ""
    warnings: list[str] = []


class Prometheus:
    """Asks one server."""

    def __init__(self, source: PrometheusSource) -> None:
        """Name the server; the connection opens with the first query."""
        self.source = source
        self._named = shown(source.address)  # for people
        self._session: ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Open nothing yet."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def instant(self, query: str) -> Answer:
        """Ask what is so now; QueryError when nobody says."""
        return await self._ask("query", {"query": query})

    async def range(self, query: str, start: float, end: float, step_s: float) -> Answer:
        """Ask what was so from start to end, both included, in steps."""
        points = (end - start) / step_s + 1
        if points > MOST_POINTS:
            text = f"{points:.0f} points of {query} are more than the {MOST_POINTS} a server gives"
            raise QueryError(Bad(text), text)
        bounds = {"start": f"{start:.3f}", "end": f"{end:.3f}", "step": f"{step_s:g}"}
        return await self._ask("query_range", {"query": query, **bounds})

    async def names(self) -> tuple[str, ...]:
        """Name all metrics there are, to say what a wrong name may have meant."""
        body = await self._body("label/__name__/values", None)
        try:
            return tuple(msgspec.json.decode(body)["data"])
        except (*UNREADABLE, KeyError, TypeError):
            return ()

    async def _ask(self, path: str, form: Mapping[str, str]) -> Answer:
        body = await self._body(path, form)
        try:
            envelope = msgspec.json.decode(body, type=_Envelope)
        except UNREADABLE as cause:
            raise self._bad(body) from cause
        if envelope.status != "success":
            raise self._refused(envelope)
        if envelope.data is None:
            raise self._bad(body)
        try:
            series = _series(envelope.data)
        except UNREADABLE as cause:
            raise self._bad(body) from cause
        return Answer(series, tuple(envelope.warnings))

    async def _body(self, path: str, form: Mapping[str, str] | None) -> bytes:
        """Give the body of a good answer; the status is looked at first."""
        where, limit = self.source.address.rstrip("/"), self.source.timeout_s
        named = self._named.rstrip("/")
        session = self._open()
        method = "GET" if form is None else "POST"
        try:
            headers = await self._headers()
            async with session.request(
                method, f"{where}/api/v1/{path}", data=form, headers=headers
            ) as response:
                body = await response.content.read(LARGEST)
                while not response.content.at_eof() and len(body) < LARGEST:
                    body += await response.content.read(LARGEST - len(body))
                if response.status == 200:
                    return body
                raise self._failed(response.status, body)
        except TimeoutError as cause:
            text = f"{named} did not answer within {limit:g} s"
            raise QueryError(NoData(Absence.UNREACHABLE, text), text) from cause
        except (ClientError, OSError, ValueError) as cause:
            said = " ".join(str(cause).split()) or type(cause).__name__
            text = f"{named} cannot be asked: {said}"
            raise QueryError(NoData(Absence.UNREACHABLE, text), text) from cause

    def _failed(self, status: int, body: bytes) -> QueryError:
        """Say what a status other than 200 means; its body may say more, and is no answer."""
        try:
            envelope = msgspec.json.decode(body, type=_Envelope)
        except UNREADABLE:
            envelope = _Envelope(status="error")
        if status in {400, 422}:
            return self._refused(envelope)
        why = Absence.FORBIDDEN if status in {401, 403} else Absence.UNREACHABLE
        said = f": {envelope.error}" if envelope.error else ""
        hint = "; give it a token in signals.prometheus.token_file" if status in {401, 403} else ""
        text = f"{self._named} answers {status}{said}{hint}"
        return QueryError(NoData(why, text), text)

    def _refused(self, envelope: _Envelope) -> QueryError:
        text = f"{self._named}: {envelope.error_type or 'error'}: {envelope.error}"
        return QueryError(Bad(text[:200]), text)

    def _bad(self, body: bytes) -> QueryError:
        begins = body[:60].decode("utf-8", "replace")
        text = f"{self._named} answers with something else than its API: {begins!r}"
        return QueryError(Bad(begins), text)

    def _open(self) -> ClientSession:
        if self._session is None:
            self._session = ClientSession(
                timeout=ClientTimeout(total=self.source.timeout_s),
                headers={"User-Agent": "controlplane"},
            )
        return self._session

    async def _headers(self) -> dict[str, str]:
        """Read the token anew each time: mounted tokens change."""
        if self.source.token_file is None:
            return {}
        file = Path(self.source.token_file)
        token = await asyncio.to_thread(file.read_text, "utf-8", "surrogateescape")
        if not token.strip().isprintable():
            text = f"signals.prometheus.token_file: {self.source.token_file} is no line of text"
            raise QueryError(NoData(Absence.FORBIDDEN, text), text)
        return {"Authorization": f"Bearer {token.strip()}"}


def _series(payload: _Payload) -> tuple[Series, ...]:
    """Read vectors, matrices and scalars; native histograms have no single value, and are left."""
    if payload.result_type in {"scalar", "string"}:
        point = msgspec.json.decode(payload.result, type=tuple[float, str])
        return (Series({}, (Point(*point),)),)
    results = msgspec.json.decode(payload.result, type=list[_Result])
    return tuple(
        Series(one.metric, tuple(Point(*point) for point in points))
        for one in results
        if (points := [one.value] if one.value is not None else one.values)
    )
