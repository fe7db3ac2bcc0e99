"""The last hour of every model, kept in memory for charts. One point a scaling cycle.

It is a picture, not a record: decisions read samples, never this. A restart starts it anew.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice

import msgspec

from controlplane.domain.decisions import Plan
from controlplane.domain.fleet import FleetView
from controlplane.domain.forecasts import Forecast
from controlplane.domain.load import ModelLoad
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import Instant, ModelName

KEPT_POINTS = 720  # an hour of 5 s cycles


class Point(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One model at one moment; None where nothing is known."""

    at: Instant
    arrivals: Mapping[Priority, float | None]  # requests per second
    queue: Mapping[Priority, float | None]
    wait_p99: Mapping[Priority, float | None]  # seconds
    latency_p99: Mapping[Priority, float | None]  # seconds
    drain_s: float | None
    memory: float | None  # KV cache (or VRAM), 0..1
    utilisation: float | None  # 0..1
    lanes: Mapping[str, int]  # lane -> replicas
    target: int
    forecasts: tuple[Forecast, ...] = ()


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(Point).decode


class History:
    """What was seen last, and the last hour of it. Written by the loops, read by the pages.

    Points are kept packed: an hour of a model takes 0.5 MB so, and 1.4 MB as objects.
    """

    def __init__(self, kept: int = KEPT_POINTS) -> None:
        """Keep so many points per model."""
        self._kept = kept
        self._points: dict[ModelName, deque[tuple[Instant, bytes]]] = {}
        self.view: FleetView | None = None
        self.loads: Mapping[ModelName, ModelLoad] = {}
        self.plan: Plan = {}
        self.zone_margins: Mapping[ModelName, int] = {}  # replicas kept to outlive a zone
        self.advice: Mapping[ModelName, int] = {}  # advisory mode: what the target would be

    def add(self, model: ModelName, point: Point) -> None:
        """Append a model's point."""
        kept = self._points.setdefault(model, deque(maxlen=self._kept))
        kept.append((point.at, _pack(point)))

    def points(self, model: ModelName, since: Instant = 0.0) -> Sequence[Point]:
        """Give a model's points since then, oldest first."""
        return [_unpack(packed) for at, packed in self._points.get(model, ()) if at >= since]

    def tail(self, model: ModelName, count: int) -> Sequence[Point]:
        """Give a model's newest points, oldest of them first."""
        points = self._points.get(model, ())
        newest = islice(points, max(0, len(points) - count), None)
        return tuple(_unpack(packed) for _, packed in newest)

    def latest(self, model: ModelName) -> Point | None:
        """Give a model's newest point."""
        points = self._points.get(model)
        return _unpack(points[-1][1]) if points else None
