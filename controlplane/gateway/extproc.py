"""Envoy's external processing service: one stream per request, held until the request has ended.

The stream's life is the slot's life. While a request waits a read stays pending on its stream: that
is how we see its client hang up. Messages are read and written as bytes, for the same few answers
go to everybody.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import lru_cache

import grpc
import grpc.aio
from envoy.config.core.v3 import base_pb2 as core
from envoy.service.ext_proc.v3 import external_processor_pb2 as pb
from envoy.type.v3 import http_status_pb2 as http_status

from controlplane.clock import stopwatch
from controlplane.decide.admission.capacity import LENT
from controlplane.gateway.desk import Desk
from controlplane.gateway.door import Door
from controlplane.gateway.entry import Entry, Stage
from controlplane.gateway.refusals import Refusal
from controlplane.render.envoy.names import (
    CLUSTER,
    METADATA,
    PROBE,
    TICKET,
    TIMEOUT,
    cluster_name,
)

SERVICE = "envoy.service.ext_proc.v3.ExternalProcessor"
EOF = grpc.aio.EOF
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

    def handlers(self) -> grpc.GenericRpcHandler:
        """Give what the gRPC server serves."""
        method = grpc.stream_stream_rpc_method_handler(self.process)
        return grpc.method_handlers_generic_handler(SERVICE, {"Process": method})

    async def process(self, _messages: object, context: "grpc.aio.ServicerContext") -> None:
        """Hold one request's stream from its headers to its end."""
        raw = await context.read()
        if raw is EOF:
            return
        headers, body = _read(raw)
        entered = self._door.enter(headers, body)
        if isinstance(entered, Refusal):
            await context.write(_refusing(entered))
            return
        desk, entry = entered
        try:
            await self._hold(context, desk, entry)
        finally:
            desk.end(entry)

    async def _hold(self, context: "grpc.aio.ServicerContext", desk: Desk, entry: Entry) -> None:
        pending: asyncio.Future[object] | None = None
        if entry.stage is Stage.WAITING and entry.moved is not None:
            pending = asyncio.ensure_future(context.read())
            try:
                await asyncio.wait((entry.moved, pending), return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                pending.cancel()
                raise
        if entry.stage is Stage.REFUSED and entry.refusal is not None:
            await context.write(_refusing(entry.refusal))
        elif entry.stage is Stage.RUNNING:
            await context.write(self._leave(desk, entry))
            await self._until_over(context, entry, pending)
            return
        if pending is not None:
            pending.cancel()

    async def _until_over(
        self,
        context: "grpc.aio.ServicerContext",
        entry: Entry,
        pending: "asyncio.Future[object] | None",
    ) -> None:
        if entry.evict is None:
            said = await (context.read() if pending is None else pending)
        else:
            pending = pending or asyncio.ensure_future(context.read())
            await asyncio.wait((pending, entry.evict), return_when=asyncio.FIRST_COMPLETED)
            if not pending.done():
                pending.cancel()
                await context.write(_refusing(entry.evict.result()))
                return
            said = pending.result()
        if said is not EOF:  # trailers: the answer is complete
            await context.write(GO_ON)

    def _leave(self, desk: Desk, entry: Entry) -> bytes:
        """Let a request go to an engine."""
        asked = entry.asked
        lent = (entry.pool if entry.ticket is None else entry.ticket.pool) is LENT
        cluster = cluster_name(desk.model.name, lent=lent)
        timeout = None
        if asked.deadline_s is not None:
            left = asked.deadline_s - (stopwatch() - entry.arrived)
            timeout = max(1, int(left * 1000))
        if asked.path is None and timeout is None and not entry.probe:
            return self._admit(cluster, asked.keyed)
        more: dict[str, bytes] = {}
        if asked.path is not None:
            more[":path"] = asked.path.encode()
        if timeout is not None:
            more[TIMEOUT] = str(timeout).encode()
        if entry.probe:
            more[PROBE] = b"1"
            self._probing(desk.model.name)
        return self._admitted(cluster, asked.keyed, more)

    def _admitted(
        self, cluster: str, keyed: bool, more: Mapping[str, bytes] | None = None
    ) -> bytes:
        """Word the leave; a key that was ours is nothing an engine should see."""
        values = {TICKET: self._secret, CLUSTER: cluster.encode(), **(more or {})}
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


@lru_cache(maxsize=4096)
def _refusing(refusal: Refusal) -> bytes:
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


def _option(name: str, value: bytes) -> core.HeaderValueOption:
    return core.HeaderValueOption(
        header=core.HeaderValue(key=name, raw_value=value),
        append_action=core.HeaderValueOption.OVERWRITE_IF_EXISTS_OR_ADD,
    )
