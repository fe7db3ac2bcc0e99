"""Where the names of points in a chart go so that none lies on another: the first free place.

Greedy and in the given order: right, left, above, below, then farther. Good enough for the two
dozen points a chart of policies has, and the same points always give the same picture.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

LETTER, LINE, AWAY = 6.4, 13.0, 10.0


class Label(NamedTuple):
    """A text's anchor point; `end` says that it ends there instead of beginning."""

    x: float
    y: float
    end: bool = False


class Box(NamedTuple):
    """What a text or a point covers."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Say whether two boxes overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def place_labels(points: Sequence[tuple[float, float, str]], width: float) -> tuple[Label, ...]:
    """Give each point's label its place within the picture."""
    taken = [Box(x - 6, y - 6, x + 6, y + 6) for x, y, _ in points]
    labels: list[Label] = []
    for x, y, text in points:
        places = list(_places(x, y))
        boxes = [_box(place, len(text) * LETTER) for place in places]
        fitting = [i for i, box in enumerate(boxes) if box.left >= 0 and box.right <= width]
        free = [i for i in fitting if not any(boxes[i].meets(other) for other in taken)]
        chosen = (free or fitting or [0])[0]
        taken.append(boxes[chosen])
        labels.append(places[chosen])
    return tuple(labels)


def _places(x: float, y: float) -> Iterable[Label]:
    for shift in (0.0, -LINE, LINE, -2 * LINE, 2 * LINE):
        yield Label(round(x + AWAY, 1), round(y + 4 + shift, 1))
        yield Label(round(x - AWAY, 1), round(y + 4 + shift, 1), end=True)


def _box(label: Label, wide: float) -> Box:
    left = label.x - wide if label.end else label.x
    return Box(left, label.y - LINE + 3, left + wide, label.y + 3)
