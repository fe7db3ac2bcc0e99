"""What every journal does, in memory or in a database."""

import msgspec
import pytest

from controlplane.domain.decisions import DONE, Choice, Ending, Outcome
from controlplane.domain.reasons import ReasonCode
from controlplane.ports import DecisionQuery
from tests.contracts.books import Books
from tests.stored import T0, Look, a_hold, a_look, a_raise, a_target

ALL = DecisionQuery()


async def only(books: Books, query: DecisionQuery = ALL) -> list[tuple[str, int, int]]:
    """Subject, target and repeats of what is listed."""
    rows = await books.decisions.decisions(query)
    return [(row.subject, row.target, row.repeats) for row in rows]


async def test_a_decision_is_read_back_as_it_was_written(books: Books) -> None:
    choice = a_raise()

    (number,) = await books.journal.open("scaling", [choice], T0 + 0.25, 17)

    assert number is not None
    row = await books.decisions.decision(number)
    assert row is not None
    assert (choice.trail, choice.refused, choice.actions) == (row.trail, row.refused, row.actions)
    assert (row.loop, row.subject, row.current, row.target) == ("scaling", "chat", 4, 5)
    assert (row.at, row.last_at, row.catalogue_version) == (T0 + 0.25, T0 + 0.25, 17)
    assert (ReasonCode.DRAIN_TOO_SLOW, books.world) == (row.decisive, row.world)
    assert msgspec.json.decode(row.seen, type=Look) == a_look()


async def test_what_is_to_be_done_is_open_until_it_is_closed(books: Books) -> None:
    """Law 3: written before done."""
    (number,) = await books.journal.open("scaling", [a_raise()], T0, 1)
    assert number is not None

    (left_open,) = await books.journal.unsettled("scaling")
    assert (number, Ending.OPEN, None) == (left_open.id, left_open.ending, left_open.settled_at)

    await books.journal.close(number, Outcome(Ending.REFUSED, "quota"), T0 + 2.0)
    assert list(await books.journal.unsettled("scaling")) == []
    row = await books.decisions.decision(number)
    assert row is not None
    assert (row.ending, row.note, row.settled_at) == (Ending.REFUSED, "quota", T0 + 2.0)


async def test_a_row_left_open_is_listed_for_its_own_loop_only(books: Books) -> None:
    await books.journal.open("scaling", [a_raise()], T0, 1)

    assert list(await books.journal.unsettled("spare")) == []
    assert len(await books.journal.unsettled("scaling")) == 1


async def test_a_hold_has_nothing_to_be_done_and_is_done(books: Books) -> None:
    await books.journal.open("scaling", [a_hold()], T0, 1)

    assert list(await books.journal.unsettled("scaling")) == []
    (row,) = await books.decisions.decisions(ALL)
    assert (row.ending, row.settled_at) == (Ending.DONE, T0)


async def test_repeated_holds_are_counted_on_the_row(books: Books) -> None:
    for cycle in range(4):
        answers = await books.journal.open("scaling", [a_hold()], T0 + 5.0 * cycle, 1)
        assert (cycle == 0) == (answers[0] is not None)

    (row,) = await books.decisions.decisions(ALL)
    assert (row.repeats, row.at, row.last_at) == (3, T0, T0 + 15.0)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(a_hold(at=5), id="another target"),
        pytest.param(a_hold(code=ReasonCode.STABILISING), id="another decisive code"),
        pytest.param(
            msgspec.structs.replace(a_hold(), actions=(a_target(replicas=4),)), id="an action"
        ),
    ],
)
async def test_a_row_is_written_when_what_was_decided_changes(books: Books, other: Choice) -> None:
    await books.journal.open("scaling", [a_hold()], T0, 1)
    (number,) = await books.journal.open("scaling", [other], T0 + 5.0, 1)

    assert number is not None
    assert len(await books.decisions.decisions(ALL)) == 2


async def test_other_evidence_alone_is_no_news(books: Books) -> None:
    first, second = a_hold(), a_hold()
    busier = msgspec.structs.replace(second, seen=a_look(target=9))
    await books.journal.open("scaling", [first], T0, 1)

    assert list(await books.journal.open("scaling", [busier], T0 + 5.0, 1)) == [None]


async def test_loops_and_subjects_are_compared_with_their_own_last_row(books: Books) -> None:
    await books.journal.open("scaling", [a_hold("chat"), a_hold("sdxl")], T0, 1)
    await books.journal.open("spare", [a_hold("chat")], T0 + 1.0, 1)
    answers = await books.journal.open("scaling", [a_hold("sdxl"), a_hold("chat")], T0 + 5.0, 1)

    assert list(answers) == [None, None]
    assert await only(books) == [("chat", 4, 0), ("sdxl", 4, 1), ("chat", 4, 1)]


async def test_numbers_are_given_in_the_order_of_the_choices(books: Books) -> None:
    choices = [a_raise(f"model-{n}", target=5 + n) for n in range(250)]

    numbers = await books.journal.open("scaling", choices, T0, 1)

    for number, choice in zip(numbers, choices, strict=True):
        assert number is not None
        row = await books.decisions.decision(number)
        assert row is not None
        assert (choice.subject, choice.target) == (row.subject, row.target)


async def test_an_action_decided_again_opens_its_row_again(books: Books) -> None:
    """Advice nobody took, or a refused action: acted on each cycle, written down once."""
    (number,) = await books.journal.open("scaling", [a_raise()], T0, 1)
    assert number is not None
    await books.journal.close(number, Outcome(Ending.REFUSED, "quota"), T0 + 1.0)

    again = await books.journal.open("scaling", [a_raise()], T0 + 5.0, 1)

    assert [number] == list(again)
    (row,) = await books.journal.unsettled("scaling")
    assert (number, 1, T0 + 5.0, "") == (row.id, row.repeats, row.last_at, row.note)
    await books.journal.close(number, DONE, T0 + 6.0)
    assert await only(books) == [("chat", 5, 1)]


async def test_an_action_decided_again_long_after_is_news(books: Books) -> None:
    """Somebody changed the cluster behind our back; that deserves a row of its own."""
    (first,) = await books.journal.open("spare", [a_raise()], T0, 1)
    assert first is not None
    await books.journal.close(first, DONE, T0 + 1.0)

    (second,) = await books.journal.open("spare", [a_raise()], T0 + 3600.0, 1)

    assert second not in (None, first)


async def test_a_choice_about_nothing_leaves_no_trace(books: Books) -> None:
    quiet = msgspec.structs.replace(a_hold(), trail=())

    assert list(await books.journal.open("spare", [quiet], T0, 1)) == [None]
    assert await only(books) == []


async def test_a_choice_that_acts_without_a_reason_is_refused_and_nothing_is_written(
    books: Books,
) -> None:
    """Law 2: a changed target always carries its trail."""
    unexplained = msgspec.structs.replace(a_raise("sdxl"), trail=())

    with pytest.raises(ValueError, match="sdxl acts but gives no reason"):
        await books.journal.open("scaling", [a_raise("chat"), unexplained], T0, 1)

    assert await only(books) == []
