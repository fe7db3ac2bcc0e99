"""How requests ended, as Envoy's access log tells it: what the breakers listen to."""

from collections.abc import Callable, Iterator

from envoy.data.accesslog.v3 import accesslog_pb2 as log
from envoy.service.accesslog.v3 import als_pb2 as pb

from controlplane.decide.breakers.answers import Answer, meaning
from controlplane.gateway.ended import Ended
from controlplane.gateway.http2.stream import Stream
from controlplane.render.envoy.names import LENT, PROBE

PATH = "/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs"
HEARD = pb.StreamAccessLogsResponse().SerializeToString()


class AccessLogs:
    """Receives Envoy's batches."""

    def __init__(self, heard: Callable[[list[Ended]], None]) -> None:
        """Pass on what is heard."""
        self._heard = heard
        self._open: set[_Log] = set()

    def close(self) -> None:
        """Hear no more: Envoy would keep these streams open for ever."""
        for one in list(self._open):
            one.closed()

    def served(self, stream: Stream) -> "_Log":
        """Listen until Envoy goes away."""
        one = _Log(stream, self._heard, self._open.discard)
        self._open.add(one)
        return one


class _Log:
    """One thread of Envoy, telling."""

    def __init__(
        self,
        stream: Stream,
        heard: Callable[[list[Ended]], None],
        over: Callable[["_Log"], None],
    ) -> None:
        self._stream, self._heard, self._over = stream, heard, over

    def message(self, raw: bytes) -> None:
        ended = list(_ended(pb.StreamAccessLogsMessage.FromString(raw)))
        if ended:
            self._heard(ended)

    def closed(self) -> None:
        self._stream.finish(HEARD)
        self._over(self)

    def lost(self) -> None:
        self._over(self)


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
