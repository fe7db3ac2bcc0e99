"""The external scaler's four calls. Each answers at once from memory; none waits for anything.

`GetMetricSpec` needs the catalogue alone, so it is the same whatever is down (K1). A value is a
whole number in both of its fields, for KEDA takes the float where it is above 0 and the whole
number otherwise: a 0 beside a stale 7 would be read as 7 (K5).
"""

from collections.abc import AsyncIterator, Callable
from typing import Any, NoReturn

import grpc
import structlog

from controlplane.adapters.keda.asked import Asked, AskedWrongError, asked
from controlplane.adapters.keda.board import HELD_S, Board, Entry
from controlplane.adapters.keda.generated import externalscaler_pb2 as wire
from controlplane.clock import Clock
from controlplane.domain.catalogue import Catalogue

NAME = "externalscaler.ExternalScaler"
OLD_S = 30.0  # an answer this old is worth a line in the log

log = structlog.stdlib.get_logger(__name__)


class Scaler:
    """Answers KEDA."""

    def __init__(self, board: Board, catalogue: Callable[[], Catalogue], clock: Clock) -> None:
        """Answer from this board, by the catalogue in force."""
        self._board = board
        self._catalogue = catalogue
        self._clock = clock
        self._old: set[Asked] = set()  # what was last answered with an old value

    def handlers(self) -> grpc.GenericRpcHandler:
        """Give the calls to be added to a server."""
        return grpc.method_handlers_generic_handler(
            NAME,
            {
                "IsActive": grpc.unary_unary_rpc_method_handler(
                    self.is_active,
                    wire.ScaledObjectRef.FromString,
                    wire.IsActiveResponse.SerializeToString,
                ),
                "StreamIsActive": grpc.unary_stream_rpc_method_handler(
                    self.stream_is_active,
                    wire.ScaledObjectRef.FromString,
                    wire.IsActiveResponse.SerializeToString,
                ),
                "GetMetricSpec": grpc.unary_unary_rpc_method_handler(
                    self.get_metric_spec,
                    wire.ScaledObjectRef.FromString,
                    wire.GetMetricSpecResponse.SerializeToString,
                ),
                "GetMetrics": grpc.unary_unary_rpc_method_handler(
                    self.get_metrics,
                    wire.GetMetricsRequest.FromString,
                    wire.GetMetricsResponse.SerializeToString,
                ),
            },
        )

    async def is_active(self, request: wire.ScaledObjectRef, context: Any) -> wire.IsActiveResponse:
        """Say whether there is work, or replicas are wanted."""
        what = await self._asked(request, context)
        active = self._active(what)
        if active is None:
            await _unavailable(context, f"nothing is known of {what.model} yet")
        return wire.IsActiveResponse(result=active)

    async def stream_is_active(
        self, request: wire.ScaledObjectRef, context: Any
    ) -> AsyncIterator[wire.IsActiveResponse]:
        """Say so whenever it changes, for as long as KEDA listens."""
        what, said = await self._asked(request, context), None
        while True:
            news = self._board.news
            active = self._active(what)
            if active is not None and active != said:
                said = active
                yield wire.IsActiveResponse(result=active)
            await news.wait()

    async def get_metric_spec(
        self, request: wire.ScaledObjectRef, context: Any
    ) -> wire.GetMetricSpecResponse:
        """Name the metric and what it should be at."""
        what = await self._asked(request, context)
        spec = wire.MetricSpec(
            metricName=what.metric, targetSize=what.size, targetSizeFloat=float(what.size)
        )
        return wire.GetMetricSpecResponse(metricSpecs=[spec])

    async def get_metrics(
        self, request: wire.GetMetricsRequest, context: Any
    ) -> wire.GetMetricsResponse:
        """Give what it is at, or say why that is not known."""
        what = await self._asked(request.scaledObjectRef, context)
        entry = self._board.entry(what.model, what.node_class, what.metric)
        age = None if entry is None else self._clock.now() - entry.at
        if entry is None or age is None or age > HELD_S:
            known = "never was" if age is None else f"was known {age:.0f} s ago"
            await _unavailable(context, f"{what.metric} of {what.model} is not known; it {known}")
        self._note_age(what, age)
        value = wire.MetricValue(
            metricName=request.metricName or what.metric,
            metricValue=entry.x,
            metricValueFloat=float(entry.x),
        )
        return wire.GetMetricsResponse(metricValues=[value])

    def _active(self, what: Asked) -> bool | None:
        """Say whether replicas are wanted, or somebody waits and no class has been chosen yet.

        Nobody waiting does not mean that none is wanted: before we have decided, nothing is known.
        """
        wanted, queue = self._held(what, "target"), self._held(what, "queue")
        first = next(iter(self._catalogue().models[what.model].variants))
        waited_for = queue is not None and queue.x > 0 and what.node_class == first
        if waited_for or (wanted is not None and wanted.x > 0):
            return True
        return None if wanted is None else False

    def _held(self, what: Asked, metric: str) -> Entry | None:
        """Give a figure that is not too old to be given."""
        entry = self._board.entry(what.model, what.node_class, metric)
        return entry if entry and self._clock.now() - entry.at <= HELD_S else None

    async def _asked(self, reference: wire.ScaledObjectRef, context: Any) -> Asked:
        try:
            return asked(reference, self._catalogue())
        except AskedWrongError as error:
            log.warning("a ScaledObject asks for what there is not", cause=str(error))
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
            raise

    def _note_age(self, what: Asked, age: float) -> None:
        """Log when answers grow old, and when they are fresh again; not each of them."""
        if (age > OLD_S) == (what in self._old):
            return
        if age > OLD_S:
            self._old.add(what)
            log.warning("KEDA is answered with an old value", asked=what._asdict(), age_s=age)
        else:
            self._old.discard(what)
            log.info("KEDA is answered with fresh values again", asked=what._asdict())


async def _unavailable(context: Any, why: str) -> NoReturn:
    await context.abort(grpc.StatusCode.UNAVAILABLE, why)
    raise AssertionError  # abort has raised
