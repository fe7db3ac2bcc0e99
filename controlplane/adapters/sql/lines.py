"""The newest row of each (loop, subject), kept in memory: what a choice is compared with.

Repeats are counted here and reach the database now and then, so that a thousand models that hold
their targets write nothing at all.
"""

from collections.abc import Iterable, Sequence

import msgspec

from controlplane.domain.decisions import Choice
from controlplane.domain.quantities import Instant
from controlplane.domain.repeats import Entry, Written, entry, written


class Line(msgspec.Struct, frozen=True, gc=False):
    """A row's number, what it says, and how often it was decided again."""

    id: int
    said: Written
    repeats: int = 0

    def again(self, at: Instant) -> "Line":
        """Count one more repeat."""
        return Line(self.id, self.said.again(at), self.repeats + 1)


class Lines:
    """All newest rows, and what they have counted that the database does not know."""

    def __init__(self) -> None:
        """Start with none; a loop's are loaded when it first writes."""
        self.loaded: set[str] = set()
        self.uncounted: dict[int, Line] = {}
        self._newest: dict[tuple[str, str], Line] = {}

    def load(self, loop: str, lines: Iterable[tuple[str, Line]]) -> None:
        """Take a loop's lines from the database."""
        self._newest.update({(loop, subject): line for subject, line in lines})
        self.loaded.add(loop)

    def forget(self) -> None:
        """Another daemon writes, or wrote: what stands is to be read anew."""
        self.loaded.clear()
        self.uncounted.clear()
        self._newest.clear()

    def newest(self, loop: str, subject: str) -> Line | None:
        """Give the newest row of a subject."""
        return self._newest.get((loop, subject))

    def take(self, draft: "Draft", numbers: Sequence[int]) -> None:
        """Take over what was written; new rows were given these numbers, in order."""
        for subject, line in draft.lines.items():
            numbered = line if line.id > 0 else Line(numbers[-1 - line.id], line.said, line.repeats)
            self._newest[draft.loop, subject] = numbered
            if numbered.id in draft.reopened:
                self.uncounted.pop(numbered.id, None)  # the count was written with it
            elif numbered.repeats:
                self.uncounted[numbered.id] = numbered

    def counted(self, lines: Iterable[Line]) -> None:
        """Note that the database now knows these counts."""
        for line in lines:
            if self.uncounted.get(line.id) is line:
                del self.uncounted[line.id]


class Draft:
    """What one cycle's choices will write. Nothing is changed until the database has it."""

    def __init__(self, lines: Lines, loop: str, choices: Iterable[Choice], at: Instant) -> None:
        """Compare each choice with the row that stands."""
        self.loop = loop
        self.new: list[Choice] = []
        self.reopened: dict[int, Line] = {}
        self.lines: dict[str, Line] = {}
        self.answers: list[int | None] = [self._enter(lines, choice, at) for choice in choices]

    @property
    def writes(self) -> bool:
        """Say whether something must be in the database before it may be done."""
        return bool(self.new or self.reopened)

    def numbered(self, numbers: Sequence[int]) -> list[int | None]:
        """Give the answers to the loop, with the numbers that new rows were given."""
        return [
            numbers[-1 - answer] if answer is not None and answer < 0 else answer
            for answer in self.answers
        ]

    def _enter(self, lines: Lines, choice: Choice, at: Instant) -> int | None:
        standing = self.lines.get(choice.subject) or lines.newest(self.loop, choice.subject)
        kind = entry(choice, at, standing.said if standing else None)
        if kind is Entry.NONE:
            return None
        if standing is None or kind is Entry.NEW:
            # A row that is still to be numbered goes by its place among the new ones: -1, -2 …
            self.new.append(choice)
            self.lines[choice.subject] = Line(-len(self.new), written(choice, at))
            return -len(self.new)
        line = self.lines[choice.subject] = standing.again(at)
        if kind is Entry.HELD:
            return None
        if line.id > 0:
            self.reopened[line.id] = line
        return line.id
