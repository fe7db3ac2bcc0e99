"""Lists of what belongs to models: narrowed to one model or one team, and given page by page."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from controlplane.http.problems import missing
from controlplane.http.state import State


class OfModel(Protocol):
    """A row about a model."""

    @property
    def model(self) -> str:
        """Whose it is."""
        ...

    @property
    def team(self) -> str:
        """Whose model it is."""
        ...


Row = TypeVar("Row", bound=OfModel)


def page_of(
    state: State, rows: Iterable[Row], wanted: Any, also: Callable[[Row], object]
) -> tuple[Row, ...]:
    """Give the page asked for; `wanted` has model, team, limit and offset. 404 for no model."""
    if wanted.model is not None and wanted.model not in state.in_force.catalogue.models:
        raise missing("model", wanted.model)
    found = [
        row
        for row in rows
        if wanted.model in {None, row.model} and wanted.team in {None, row.team} and also(row)
    ]
    return tuple(found[wanted.offset : wanted.offset + wanted.limit])
