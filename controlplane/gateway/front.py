"""The gRPC server that Envoy talks to: admission, and how requests ended."""

from collections.abc import Callable

import grpc.aio

from controlplane.gateway.door import Door
from controlplane.gateway.ended import Ended
from controlplane.gateway.endings import AccessLogs
from controlplane.gateway.extproc import EnvoyAdmission

MOST_STREAMS = 2**31 - 1
MOST_PENDING = 200_000
OPTIONS = (
    ("grpc.so_reuseport", 1),
    ("grpc.max_concurrent_streams", MOST_STREAMS),
    # Else a burst of two thousand new streams is shed as an error.
    ("grpc.server.max_pending_requests", MOST_PENDING),
    ("grpc.server.max_pending_requests_hard_limit", 2 * MOST_PENDING),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 0),
    ("grpc.http2.max_ping_strikes", 0),
)


class EnvoyFront:
    """Serves one Envoy, or several."""

    def __init__(
        self,
        door: Door,
        secret: str,
        heard: Callable[[list[Ended]], None],
        probing: Callable[[str], None],
    ) -> None:
        """Admit through this door; tell how requests ended, and which are probes."""
        self._processor = EnvoyAdmission(door, secret, probing)
        self._logs = AccessLogs(heard)
        self._server = grpc.aio.server(options=OPTIONS)

    async def start(self, listen: str) -> None:
        """Listen on an address as gRPC writes it."""
        self._server.add_generic_rpc_handlers((self._processor.handlers(), self._logs.handlers()))
        self._server.add_insecure_port(listen)
        await self._server.start()

    async def stop(self, grace_s: float) -> None:
        """Take nothing new; let what is under way finish, for so long."""
        self._logs.close()
        await self._server.stop(grace_s)
