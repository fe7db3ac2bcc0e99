"""How decisions are listed, in memory or from a database."""

import pytest

from controlplane.domain.reasons import ReasonCode
from controlplane.ports import DecisionQuery
from tests.contracts.books import Books
from tests.stored import T0, a_hold, a_raise


async def written(books: Books) -> list[int]:
    """Five rows: two models, two loops, ten seconds apart."""
    numbers: list[int] = []
    for step, (loop, choice) in enumerate(
        (
            ("scaling", a_hold("chat")),
            ("scaling", a_raise("chat")),
            ("scaling", a_hold("sdxl", code=ReasonCode.STABILISING)),
            ("spare", a_raise("chat", code=ReasonCode.REFILLED)),
            ("scaling", a_raise("sdxl")),
        )
    ):
        opened = await books.journal.open(loop, [choice], T0 + 10.0 * step, 1)
        numbers += [number for number in opened if number is not None]
    return numbers


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(DecisionQuery(), [5, 4, 3, 2, 1], id="all, newest first"),
        pytest.param(DecisionQuery(limit=2), [5, 4], id="the newest two"),
        pytest.param(DecisionQuery(subject="chat"), [4, 2, 1], id="of a model"),
        pytest.param(DecisionQuery(loop="spare"), [4], id="of a loop"),
        pytest.param(DecisionQuery(subject="chat", loop="scaling"), [2, 1], id="of both"),
        pytest.param(DecisionQuery(code=ReasonCode.STABILISING), [3], id="of a code"),
        pytest.param(DecisionQuery(moved_only=True), [5, 4, 2], id="that moved"),
        pytest.param(DecisionQuery(since=T0 + 20.0), [5, 4, 3], id="since, inclusive"),
        pytest.param(DecisionQuery(until=T0 + 20.0), [2, 1], id="until, exclusive"),
        pytest.param(DecisionQuery(subject="nobody"), [], id="of nobody"),
    ],
)
async def test_decisions_are_filtered(
    books: Books, query: DecisionQuery, expected: list[int]
) -> None:
    numbers = await written(books)

    rows = await books.decisions.decisions(query)

    assert [numbers[n - 1] for n in expected] == [row.id for row in rows]


async def test_the_next_page_begins_before_the_last_row(books: Books) -> None:
    numbers = await written(books)

    rows = await books.decisions.decisions(DecisionQuery(before_id=numbers[2], limit=1))

    assert [numbers[1]] == [row.id for row in rows]


async def test_a_number_nobody_was_given_finds_nothing(books: Books) -> None:
    assert await books.decisions.decision(4_711) is None
