"""How requests ended, as Envoy's access log tells it: what the breakers listen to."""

import asyncio
from collections.abc import Callable, Iterator

import grpc
import grpc.aio
from envoy.data.accesslog.v3 import accesslog_pb2 as log
from envoy.service.accesslog.v3 import als_pb2 as pb

from controlplane.decide.breakers.answers import Answer, meaning
from controlplane.gateway.ended import Ended
from controlplane.render.envoy.names import LENT, PROBE

SERVICE = "envoy.service.accesslog.v3.AccessLogService"


class AccessLogs:
    """Receives Envoy's batches."""

    def __init__(self, heard: Callable[[list[Ended]], None]) -> None:
        """Pass on what is heard."""
        self._heard = heard
        self._closed = asyncio.Event()

    def close(self) -> None:
        """Hear no more: Envoy would keep these streams open for ever."""
        self._closed.set()

    def handlers(self) -> grpc.GenericRpcHandler:
        """Give what the gRPC server serves."""
        method = grpc.stream_unary_rpc_method_handler(
            self.receive,
            request_deserializer=pb.StreamAccessLogsMessage.FromString,
            response_serializer=pb.StreamAccessLogsResponse.SerializeToString,
        )
        return grpc.method_handlers_generic_handler(SERVICE, {"StreamAccessLogs": method})

    async def receive(
        self, _messages: object, context: "grpc.aio.ServicerContext"
    ) -> pb.StreamAccessLogsResponse:
        """Listen until Envoy goes away."""
        closed = asyncio.ensure_future(self._closed.wait())
        try:
            while not closed.done():
                read = asyncio.ensure_future(context.read())
                await asyncio.wait((read, closed), return_when=asyncio.FIRST_COMPLETED)
                if not read.done() or (message := read.result()) is grpc.aio.EOF:
                    read.cancel()
                    break
                ended = list(_ended(message))
                if ended:
                    self._heard(ended)
        finally:
            closed.cancel()
        return pb.StreamAccessLogsResponse()


def _ended(message: pb.StreamAccessLogsMessage) -> Iterator[Ended]:
    for entry in message.http_logs.log_entry:
        common = entry.common_properties
        reached = common.upstream_cluster and common.HasField("upstream_remote_address")
        if not reached and not _tried(common.response_flags):
            continue  # it never was on its way to an engine
        model = common.upstream_cluster.removesuffix(LENT)
        probe = entry.request.request_headers.get(PROBE) == "1"
        yield Ended(model, meaning(_answer(entry)), probe)


def _tried(flags: log.ResponseFlags) -> bool:
    return bool(flags.upstream_connection_failure or flags.upstream_request_timeout)


def _answer(entry: log.HTTPAccessLogEntry) -> Answer:
    flags = entry.common_properties.response_flags
    reset = (
        flags.upstream_connection_failure
        or flags.upstream_connection_termination
        or flags.upstream_remote_reset
        or flags.upstream_protocol_error
    )
    return Answer(
        status=entry.response.response_code.value,
        busy="retry-after" in entry.response.response_headers,
        reset=bool(reset),
        timed_out=bool(flags.upstream_request_timeout or flags.stream_idle_timeout),
        client_left=bool(flags.downstream_connection_termination),
    )
