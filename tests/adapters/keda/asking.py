"""A client that speaks as KEDA does, and a scaler to ask."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import grpc
from grpc import aio

from controlplane.adapters.keda.board import Board
from controlplane.adapters.keda.generated import externalscaler_pb2 as wire
from controlplane.adapters.keda.scaler import NAME
from controlplane.adapters.keda.server import Certificates, ScalerPort
from controlplane.clock import Clock
from controlplane.decide.handover.figures import Figures, Serving, figures
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import ClassName, ModelName
from tests.builders import A100, CHAT, WAITS, a_catalogue, a_load, a_policy

FLEET = a_catalogue()
CLASSES = {CHAT: (A100,)}


def said(
    load: ModelLoad | None = None, target: Mapping[ClassName, int] | None = None, replicas: int = 2
) -> Figures:
    serving = Serving(replicas=replicas, slots=10, service_s=1.0)
    return figures(load or a_load(), a_policy(), serving, target or {})


class Keda:
    """Calls the four methods."""

    def __init__(self, channel: aio.Channel) -> None:
        def unary(method: str, request: Any, response: Any) -> Any:
            return channel.unary_unary(
                f"/{NAME}/{method}",
                request_serializer=request.SerializeToString,
                response_deserializer=response.FromString,
            )

        self._spec = unary("GetMetricSpec", wire.ScaledObjectRef, wire.GetMetricSpecResponse)
        self._metrics = unary("GetMetrics", wire.GetMetricsRequest, wire.GetMetricsResponse)
        self._active = unary("IsActive", wire.ScaledObjectRef, wire.IsActiveResponse)
        self._stream = channel.unary_stream(
            f"/{NAME}/StreamIsActive",
            request_serializer=wire.ScaledObjectRef.SerializeToString,
            response_deserializer=wire.IsActiveResponse.FromString,
        )

    async def spec(self, **metadata: str) -> tuple[str, int, float]:
        (spec,) = (await self._spec(_reference(metadata), timeout=3)).metricSpecs
        return spec.metricName, spec.targetSize, spec.targetSizeFloat

    async def value(self, **metadata: str) -> tuple[int, float]:
        name = metadata.get("metric", "target")
        request = wire.GetMetricsRequest(scaledObjectRef=_reference(metadata), metricName=name)
        (value,) = (await self._metrics(request, timeout=3)).metricValues
        assert value.metricName == name
        return value.metricValue, value.metricValueFloat

    async def active(self, **metadata: str) -> bool:
        return bool((await self._active(_reference(metadata), timeout=3)).result)

    async def stream(self, **metadata: str) -> AsyncIterator[bool]:
        async for answer in self._stream(_reference(metadata)):
            yield answer.result


def _reference(metadata: Mapping[str, str]) -> wire.ScaledObjectRef:
    given = {"model": CHAT, **{k.rstrip("_"): v for k, v in metadata.items()}}
    return wire.ScaledObjectRef(name="chat", namespace="inference", scalerMetadata=given)


@asynccontextmanager
async def scaler(
    board: Board,
    catalogue: Callable[[], Catalogue] = lambda: FLEET,
    certificates: Certificates | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[ScalerPort]:
    """Run a scaler's port; it has answered itself."""
    port = ScalerPort(board, catalogue, clock or Clock(), "127.0.0.1:0", certificates)
    running = asyncio.create_task(port.run())
    try:
        async with asyncio.timeout(30):
            await port.answers.wait()
        yield port
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@asynccontextmanager
async def keda(port: ScalerPort) -> AsyncIterator[Keda]:
    """Be a KEDA of that port."""
    async with aio.insecure_channel(f"127.0.0.1:{port.port}") as channel:
        yield Keda(channel)


async def refusal(call: Any) -> tuple[grpc.StatusCode, str]:
    try:
        await call
    except aio.AioRpcError as error:
        return error.code(), error.details() or ""
    raise AssertionError("it was answered")


__all__ = [
    "A100",
    "CHAT",
    "CLASSES",
    "FLEET",
    "WAITS",
    "Keda",
    "ModelName",
    "keda",
    "refusal",
    "said",
    "scaler",
]
