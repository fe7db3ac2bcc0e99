"""JSON in pieces is the same JSON, and others get their turn in between."""

import msgspec
import pytest

from controlplane.domain.actions import SetReplicas
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.domain.reasons import Evidence
from controlplane.http.encoding import encoded
from controlplane.http.reads.figures import Figure
from controlplane.http.reads.fleet import fleet
from controlplane.http.state import State
from tests.turns import turns_of_others


class Nothing(msgspec.Struct, frozen=True):
    """A Struct without fields."""


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        "é",
        (),
        [],
        {"a": 1},
        Nothing(),
        (Nothing(), Nothing()),
        Figure(value=None, why="Stale"),
        [Figure(value=1.0), Figure(value=2.0, limit=3.0)],
        (Evidence("drain", 41.0, 30.0, "s"),),
        SetReplicas(ModelName("chat"), ClassName("T4"), 3),
        (1, Figure(value=1.0)),
    ],
    ids=repr,
)
async def test_pieces_make_the_same_bytes(value: object) -> None:
    assert await encoded(value) == msgspec.json.encode(value)


async def test_the_whole_fleet_too(state: State) -> None:
    found = await fleet(state)

    assert await encoded(found) == msgspec.json.encode(found)


async def test_others_get_their_turn_while_a_large_value_is_written() -> None:
    with turns_of_others() as turns:
        await encoded([Figure(value=float(i)) for i in range(500)])

    assert turns.got >= 10
