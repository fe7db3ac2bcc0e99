"""Envoy's external processing service: one stream per request, held until the request has ended.

The stream's life is the slot's life: whatever ends it, a client's hang-up included, ends the entry.
Messages are read and written as bytes, for the same few answers go to everybody.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import lru_cache

from envoy.config.core.v3 import base_pb2 as core
from envoy.service.ext_proc.v3 import external_processor_pb2 as pb
from envoy.type.v3 import http_status_pb2 as http_status

from controlplane.clock import stopwatch
from controlplane.decide.admission.capacity import LENT
from controlplane.gateway.desk import Desk
from controlplane.gateway.door import Door
from controlplane.gateway.entry import Entry, Stage
from controlplane.gateway.http2.stream import Stream
from controlplane.gateway.refusals import Refusal
from controlplane.render.envoy.names import (
    CLUSTER,
    METADATA,
    PROBE,
    TICKET,
    TIMEOUT,
    cluster_name,
)

PATH = "/envoy.service.ext_proc.v3.ExternalProcessor/Process"
LONGEST_KEPT = 256  # characters of a path or a refusal whose answer is kept for the next one
# What stands at the end of an answer needs no change, only leave to go on.
GO_ON = pb.ProcessingResponse(response_trailers=pb.TrailersResponse()).SerializeToString()


class EnvoyAdmission:
    """Answers Envoy."""

    def __init__(self, door: Door, secret: str, probing: Callable[[str], None]) -> None:
        """Admit through this door; `secret` is what a ticket says."""
        self._door = door
        self._probing = probing
        self._secret = secret.encode()
        self._admit = lru_cache(maxsize=4096)(self._admitted)

    def served(self, stream: Stream) -> "HeldRequest":
        """Hold one request's stream from its headers to its end."""
        return HeldRequest(self, stream)

    def enter(self, raw: bytes) -> tuple[Desk, Entry] | Refusal:
        """Take a request in, or say why not."""
        return self._door.enter(*_read(raw))

    def leave(self, desk: Desk, entry: Entry) -> bytes:
        """Let a request go to an engine."""
        asked = entry.asked
        lent = (entry.pool if entry.ticket is None else entry.ticket.pool) is LENT
        cluster = cluster_name(desk.model.name, lent=lent)
        timeout = None
        if asked.deadline_s is not None:
            left = asked.deadline_s - (stopwatch() - entry.arrived)
            timeout = max(1, int(left * 1000))
        path = asked.path
        if timeout is None and not entry.probe and (path is None or len(path) <= LONGEST_KEPT):
            return self._admit(cluster, asked.keyed, path)
        more: dict[str, bytes] = {}
        if timeout is not None:
            more[TIMEOUT] = str(timeout).encode()
        if entry.probe:
            more[PROBE] = b"1"
            self._probing(desk.model.name)
        return self._admitted(cluster, asked.keyed, path, more)

    def _admitted(
        self,
        cluster: str,
        keyed: bool,
        path: str | None,
        more: Mapping[str, bytes] | None = None,
    ) -> bytes:
        """Word the leave; a key that was ours is nothing an engine should see."""
        values = {TICKET: self._secret, CLUSTER: cluster.encode(), **(more or {})}
        if path is not None:
            values[":path"] = path.encode()
        response: bytes = pb.ProcessingResponse(
            request_headers=pb.HeadersResponse(
                response=pb.CommonResponse(
                    header_mutation=pb.HeaderMutation(
                        set_headers=[_option(name, value) for name, value in values.items()],
                        remove_headers=["authorization", "x-api-key"] if keyed else [],
                    ),
                    clear_route_cache=True,
                )
            )
        ).SerializeToString()
        return response


class HeldRequest:
    """One request: it waits, runs, and ends with its stream."""

    __slots__ = ("_admission", "_desk", "_entry", "_stream")

    def __init__(self, admission: EnvoyAdmission, stream: Stream) -> None:
        """Wait for its headers."""
        self._admission, self._stream = admission, stream
        self._desk: Desk | None = None
        self._entry: Entry | None = None

    def message(self, raw: bytes) -> None:
        """Hear of its headers, then of its trailers: the answer is complete."""
        if self._entry is None:
            self._enter(raw)
        elif self._entry.stage is Stage.RUNNING:
            self._end(GO_ON)
        else:
            self._end()

    def closed(self) -> None:
        """Envoy is done with it: its client has left, or its answer had no trailers."""
        self._end()

    def lost(self) -> None:
        """Its stream is gone, and the slot is free."""
        if self._desk is not None and self._entry is not None:
            self._desk.end(self._entry)

    def _enter(self, raw: bytes) -> None:
        entered = self._admission.enter(raw)
        if isinstance(entered, Refusal):
            self._end(_refusing(entered))
            return
        self._desk, self._entry = _, entry = entered
        if entry.stage is Stage.WAITING and entry.moved is not None:
            entry.moved.add_done_callback(self._moved)
        else:
            self._answer()

    def _moved(self, _: object) -> None:
        self._stream.guard(self._answer)

    def _answer(self) -> None:
        """Say what has been decided; of one that has left nothing is said."""
        desk, entry = self._desk, self._entry
        if desk is None or entry is None:
            return
        if entry.stage is Stage.REFUSED and entry.refusal is not None:
            self._end(_refusing(entry.refusal))
        elif entry.stage is Stage.RUNNING:
            self._stream.send(self._admission.leave(desk, entry))
            if entry.evict is not None:
                entry.evict.add_done_callback(self._evicted)

    def _evicted(self, given: "asyncio.Future[Refusal]") -> None:
        if not given.cancelled():
            self._end(_refusing(given.result()))

    def _end(self, answer: bytes | None = None) -> None:
        self._stream.finish(answer)
        self.lost()


def _read(raw: bytes) -> tuple[dict[str, str], dict[str, object] | None]:
    """Give the headers, and what Envoy read in the body."""
    message = pb.ProcessingRequest.FromString(raw)
    headers = {
        header.key: header.raw_value.decode("utf-8", "replace") or header.value
        for header in message.request_headers.headers.headers
    }
    known = message.metadata_context.filter_metadata
    if METADATA not in known:
        return headers, None
    body: dict[str, object] = {}
    for name, value in known[METADATA].fields.items():
        body[name] = value.string_value or value.number_value
    return headers, body


def _refusing(refusal: Refusal) -> bytes:
    """Word an answer, and keep it where others get the same: it does not name what was asked."""
    return _kept(refusal) if len(refusal.body) <= LONGEST_KEPT else _worded(refusal)


def _worded(refusal: Refusal) -> bytes:
    response: bytes = pb.ProcessingResponse(
        immediate_response=pb.ImmediateResponse(
            status=http_status.HttpStatus(code=refusal.status),
            headers=pb.HeaderMutation(
                set_headers=[_option(name, value.encode()) for name, value in refusal.headers]
            ),
            body=refusal.body,
            details=refusal.code.value,
        )
    ).SerializeToString()
    return response


_kept = lru_cache(maxsize=1024)(_worded)


def _option(name: str, value: bytes) -> core.HeaderValueOption:
    return core.HeaderValueOption(
        header=core.HeaderValue(key=name, raw_value=value),
        append_action=core.HeaderValueOption.OVERWRITE_IF_EXISTS_OR_ADD,
    )
