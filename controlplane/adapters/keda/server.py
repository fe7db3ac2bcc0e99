"""The port KEDA asks: plain or over TLS, with the health service Kubernetes probes.

It is ready when it has answered its own question over the wire, not when it was bound: whoever
publishes ScaledObjects waits for `answers` (K2). It shares the event loop with the daemon, which is
never blocked for long, and does nothing but look things up.
"""

import asyncio
import contextlib
import ipaddress
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import grpc
import structlog
from grpc import aio
from grpc_health.v1 import health, health_pb2

from controlplane.adapters.keda.board import Board
from controlplane.adapters.keda.generated import externalscaler_pb2 as wire
from controlplane.adapters.keda.scaler import NAME, Scaler
from controlplane.clock import Clock
from controlplane.domain.catalogue import Catalogue
from controlplane.ports import UnavailableError

PROBE_EVERY_S = 15.0
PROBE_AGAIN_S = 1.0  # while it does not answer
PROBE_WITHIN_S = 3.0
STOP_WITHIN_S = 1.0

log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """Files in PEM. With an authority, callers must show a certificate it signed."""

    certificate: Path
    key: Path
    authority: Path | None = None


class ScalerPort:
    """Listens, and knows whether it is answered."""

    def __init__(
        self,
        board: Board,
        catalogue: Callable[[], Catalogue],
        clock: Clock,
        address: str = "127.0.0.1:50051",
        certificates: Certificates | None = None,
    ) -> None:
        """Prepare; nothing listens before `run`."""
        self._scaler = Scaler(board, catalogue, clock)
        self._catalogue = catalogue
        self._address = address
        self._certificates = certificates
        self._health = health.aio.HealthServicer()
        self.port = 0  # once it listens
        self.answers = asyncio.Event()

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen until the block ends; OSError where that cannot be."""
        server = aio.server(options=[("grpc.so_reuseport", 0)])
        server.add_generic_rpc_handlers((self._scaler.handlers(), _health_handlers(self._health)))
        self.port = self._bind(server)
        await server.start()
        log.info("the external scaler listens", address=self._address, port=self.port)
        try:
            yield
        finally:
            self.answers.clear()
            await server.stop(STOP_WITHIN_S)

    async def look_for_ever(self) -> NoReturn:
        """Keep asking itself."""
        while True:
            await self._look()
            await asyncio.sleep(PROBE_EVERY_S if self.answers.is_set() else PROBE_AGAIN_S)

    async def run(self) -> NoReturn:
        """Listen for ever, and keep asking itself."""
        async with self.listening():
            await self.look_for_ever()

    def _bind(self, server: aio.Server) -> int:
        shown = None if self._certificates is None else _server_side(self._certificates)
        try:
            if shown is None:
                port: int = server.add_insecure_port(self._address)
            else:
                port = server.add_secure_port(self._address, shown)
        except (OSError, RuntimeError) as cause:
            why = str(cause).partition(";")[0]  # the rest is advice for whoever debugs gRPC
            raise OSError(f"keda: {self._address} cannot be listened on: {why}") from cause
        return port

    async def _look(self) -> None:
        """Ask ourselves, and tell who waits and Kubernetes' probe how it went."""
        failure = ""
        try:
            await self.probe()
        except UnavailableError as cause:
            failure = str(cause)
        if bool(failure) == self.answers.is_set():
            if failure:
                log.warning("the external scaler does not answer", cause=failure)
            else:
                log.info("the external scaler answers")
        status = health_pb2.HealthCheckResponse
        serving = status.NOT_SERVING if failure else status.SERVING
        for name in ("", NAME):
            await self._health.set(name, serving)
        if failure:
            self.answers.clear()
        else:
            self.answers.set()

    async def probe(self) -> None:
        """Ask the port for a metric's name, as KEDA would; UnavailableError when it does not say.

        Over TLS a handshake must do: whom our certificate convinces is KEDA's affair, and callers
        may have to show one that we have not got.
        """
        try:
            if self._certificates is None:
                await self._ask()
            else:
                await self._shake_hands()
        except aio.AioRpcError as error:
            raise UnavailableError(f"{error.code().name}: {error.details()}") from error
        except (OSError, TimeoutError) as cause:
            raise UnavailableError(str(cause) or "no answer in time") from cause

    async def _ask(self) -> None:
        model = next(iter(self._catalogue().models))
        reference = wire.ScaledObjectRef(name="self", scalerMetadata={"model": model})
        async with aio.insecure_channel(f"{self._host()}:{self.port}") as channel:
            call = channel.unary_unary(
                f"/{NAME}/GetMetricSpec",
                request_serializer=wire.ScaledObjectRef.SerializeToString,
                response_deserializer=wire.GetMetricSpecResponse.FromString,
            )
            answer = await call(reference, timeout=PROBE_WITHIN_S)
        if not answer.metricSpecs:
            raise UnavailableError("the port answers without a metric")

    async def _shake_hands(self) -> None:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        async with asyncio.timeout(PROBE_WITHIN_S):
            host = self._host().strip("[]")
            _, writer = await asyncio.open_connection(host, self.port, ssl=context)
        spoken = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        writer.close()
        if spoken != "h2":
            raise UnavailableError("the port does not speak HTTP/2")

    def _host(self) -> str:
        """Say where we reach ourselves: bound everywhere is bound here too."""
        host = self._address.rpartition(":")[0].strip("[]")
        with contextlib.suppress(ValueError):  # a name is no address, and that is fine
            bound = ipaddress.ip_address(host)
            if bound.is_unspecified:
                host = "127.0.0.1" if bound.version == 4 else "::1"
        return f"[{host}]" if ":" in host else host


def _server_side(files: Certificates) -> grpc.ServerCredentials:
    """Read the files, and try them: gRPC would only say that it cannot listen."""
    named = [files.certificate, files.key, *filter(None, [files.authority])]
    try:
        certificate, key, *more = [file.read_bytes() for file in named]
        tried = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tried.load_cert_chain(files.certificate, files.key)
        if files.authority is not None:
            tried.load_verify_locations(files.authority)
    except ssl.SSLError as cause:
        both = f"{files.certificate} with its key {files.key}"
        also = f" and the authority {files.authority}" if files.authority else ""
        raise OSError(f"keda: {both}{also} cannot be used: {cause.reason or cause}") from cause
    except OSError as cause:
        raise OSError(f"keda: {cause.filename} cannot be read: {cause.strerror}") from cause
    pair, authority = (key, certificate), next(iter(more), None)
    return grpc.ssl_server_credentials([pair], authority, authority is not None)


def _health_handlers(servicer: health.aio.HealthServicer) -> grpc.GenericRpcHandler:
    """Give the health service's calls, as the generated code would add them."""
    asked, said = health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse
    return grpc.method_handlers_generic_handler(
        health.SERVICE_NAME,
        {
            "Check": grpc.unary_unary_rpc_method_handler(
                servicer.Check, asked.FromString, said.SerializeToString
            ),
            "Watch": grpc.unary_stream_rpc_method_handler(
                servicer.Watch, asked.FromString, said.SerializeToString
            ),
        },
    )
