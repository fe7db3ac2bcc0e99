"""Geometry of the inline drawings. Templates draw; here is where each point lies.

All sizes are whole numbers of the drawing's own units, so the same fleet gives the same HTML and
the live feed sends nothing when nothing changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, log10
from typing import NamedTuple

from controlplane.http.reads.figures import SparkPoints
from controlplane.http.reads.shapes.fleet import DeviceCell
from controlplane.http.reads.shapes.models import LaneCounts

SPARK_WIDTH, SPARK_HEIGHT = 88, 26
CELL_WIDTH = 20
HEADROOM = 1.25  # the limit line stays inside the picture


class Spark(NamedTuple):
    """A sparkline: pieces of line (gaps are unknown), its last point, its limit."""

    pieces: tuple[str, ...]
    end: tuple[float, float] | None
    limit_y: float | None
    hot: bool
    width: int = SPARK_WIDTH
    height: int = SPARK_HEIGHT


def spark(points: SparkPoints, limit: float | None) -> Spark:
    """Draw a value over time against its limit."""
    known = [value for _, value in points if value is not None]
    top = max([*known, (limit or 0.0) * HEADROOM, 1e-9])
    first = points[0][0] if points else 0.0
    width = max(points[-1][0] - first, 1e-9) if points else 1.0

    def place(at: float, value: float) -> tuple[float, float]:
        x = (at - first) / width * SPARK_WIDTH if len(points) > 1 else SPARK_WIDTH
        return round(x, 1), round(SPARK_HEIGHT - value / top * SPARK_HEIGHT, 1)

    pieces: list[list[str]] = [[]]
    end: tuple[float, float] | None = None
    for at, value in points:
        if value is None:
            pieces.append([])
            end = None
            continue
        end = place(at, value)
        pieces[-1].append(f"{end[0]:g},{end[1]:g}")
    return Spark(
        tuple(" ".join(piece) for piece in pieces if len(piece) > 1),
        end,
        round(SPARK_HEIGHT - limit / top * SPARK_HEIGHT, 1) if limit is not None else None,
        bool(known and limit is not None and points[-1][1] is not None and known[-1] > limit),
    )


class Meter(NamedTuple):
    """A value on a scale with a mark at its limit; shares of the width."""

    filled: float
    mark: float | None
    hot: bool


def meter(value: float | None, limit: float | None, top: float | None = None) -> Meter:
    """Draw a value against its limit on one scale: `top`, or what shows both."""
    scale = top or max((limit or 0.0) * 1.6, (value or 0.0) * 1.1, 1e-9)
    return Meter(
        round(min((value or 0.0) / scale, 1.0), 4),
        None if limit is None else round(min(limit / scale, 1.0), 4),
        value is not None and limit is not None and value > limit,
    )


class Segment(NamedTuple):
    """One part of a stacked bar, and what it says when pointed at."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    label: str


class Bars(NamedTuple):
    """Stacked bars by day with their scale."""

    segments: tuple[Segment, ...]
    labels: tuple[tuple[float, str], ...]
    ticks: tuple[tuple[float, float], ...]  # y, value
    width: int
    height: int


BARS_WIDTH, BARS_HEIGHT, BARS_LEFT, BARS_FOOT, BARS_HEAD = 960, 230, 68, 24, 8
LABEL_WIDTH = 52


def stacked_bars(columns: Sequence[tuple[str, Mapping[str, float]]], kinds: Sequence[str]) -> Bars:
    """Draw one bar a column, its parts stacked in the order of `kinds`, the first at the bottom."""
    marks = nice_ticks(max((sum(parts.values()) for _, parts in columns), default=0.0))
    top = marks[-1]
    room = BARS_HEIGHT - BARS_FOOT
    scale = (room - BARS_HEAD) / top
    step = (BARS_WIDTH - BARS_LEFT) / max(len(columns), 1)
    width = min(step * 0.64, 56.0)
    skip = ceil(LABEL_WIDTH / step)  # only so many labels as find room
    segments: list[Segment] = []
    labels: list[tuple[float, str]] = []
    for index, (label, parts) in enumerate(columns):
        x = BARS_LEFT + step * index + (step - width) / 2
        y = float(room)
        for kind in kinds:
            height = parts.get(kind, 0.0) * scale
            if height > 0:
                y -= height
                segments.append(Segment(_r(x), _r(y), _r(width), _r(height), kind, label))
        if index % skip == 0:
            labels.append((_r(x + width / 2), label))
    ticks = tuple((_r(room - mark * scale), mark) for mark in marks)
    return Bars(tuple(segments), tuple(labels), ticks, BARS_WIDTH, BARS_HEIGHT)


def nice_ticks(value: float) -> tuple[float, ...]:
    """Give the marks of a scale from 0 to just beyond a value: at most six, all round numbers."""
    if value <= 0:
        return (0.0, 1.0)
    power = 10.0 ** floor(log10(value))
    step = next(power * part for part in (0.2, 0.25, 0.5, 1, 2) if power * part * 5 >= value)
    return tuple(step * index for index in range(ceil(round(value / step, 9)) + 1))


def colours(names: Iterable[str]) -> dict[str, str]:
    """Give every model its colour class, by the catalogue's order; the ninth starts again."""
    return {name: f"m{index % 8 + 1}" for index, name in enumerate(names)}


def _r(x: float) -> float:
    return round(x, 1)


class Block(NamedTuple):
    """One replica in the stacked bar of lanes."""

    x: int
    lane: str
    sleeping: bool = False


class Lanes(NamedTuple):
    """The stacked bar of a model's lanes; `more` replicas found no room."""

    blocks: tuple[Block, ...]
    width: int
    more: int


LANES_SHOWN = 14


def lane_parts(counts: LaneCounts) -> Lanes:
    """Draw a model's replicas: serving, warm, sleeping, loading, draining."""
    drawn = [
        *[("serving", False)] * counts.serving,
        *[("warm", False)] * (counts.warm - counts.sleeping),
        *[("warm", True)] * counts.sleeping,
        *[("loading", False)] * counts.loading,
        *[("draining", False)] * counts.draining,
    ]
    shown = drawn[:LANES_SHOWN]
    blocks = tuple(Block(11 * index, *one) for index, one in enumerate(shown))
    more = len(drawn) - len(shown)
    return Lanes(blocks, max(11 * len(shown) - 2, 0) + (30 if more else 0), more)


def cell_places(devices: Sequence[DeviceCell]) -> tuple[int, ...]:
    """Give each cell's left edge; devices of one replica stand closer together."""
    places: list[int] = []
    x = 0
    for index, cell in enumerate(devices):
        if index:
            before = devices[index - 1]
            together = cell.replica is not None and cell.replica == before.replica
            x += CELL_WIDTH + (1 if together else 4)
        places.append(x)
    return tuple(places)
