"""Memory, ledger and what people set, in memory or in a database."""

import pytest

from controlplane.domain.ledger import LineKind
from controlplane.domain.overrides import Isolation, Override
from controlplane.http.auth import secret_hash
from controlplane.ports import AuditEntry, Token
from tests.contracts.books import Books
from tests.stored import T0, a_line


def an_override(
    paused: bool = False,
    pinned: int | None = None,
    by: str = "ada",
    isolated: Isolation | None = None,
) -> Override:
    return Override(subject="chat", paused=paused, pinned=pinned, isolated=isolated, by=by, at=T0)


OUT = Isolation(by="bob", at=T0 - 5.0, why="corrupt weights")


async def test_a_loop_remembers_what_it_saved_last(books: Books) -> None:
    assert await books.memory.load("scaling") is None

    await books.memory.save("scaling", b'{"latch":true}')
    await books.memory.save("scaling", '{"latch":false,"note":"冷却"}'.encode())
    await books.memory.save("spare", b"{}")

    assert '{"latch":false,"note":"冷却"}'.encode() == await books.memory.load("scaling")


async def test_an_interval_written_twice_is_billed_once(books: Books) -> None:
    """Law 8: re-running an interval changes nothing, also when it comes out otherwise."""
    interval = [a_line(), a_line(kind=LineKind.IDLE, model=None, micros=10), a_line(device=1)]
    await books.ledger.write(interval)
    await books.ledger.write([a_line(micros=99), *interval])

    rows = await books.ledger.rows(T0, T0 + 60.0)

    assert len(rows) == 3
    assert sum(row.micros for row in rows) == 100_010
    assert set(rows) == set(interval)


async def test_rows_are_found_by_where_their_interval_begins(books: Books) -> None:
    minutes = [a_line(T0 + 60.0 * n) for n in range(4)]
    await books.ledger.write(minutes[2:])
    await books.ledger.write(minutes[:2])

    assert minutes[1:3] == list(await books.ledger.rows(T0 + 60.0, T0 + 180.0))
    assert minutes == list(await books.ledger.rows(0.0, float("inf")))


async def test_billed_until_is_the_latest_end_ever_written(books: Books) -> None:
    assert await books.ledger.billed_until() is None

    await books.ledger.write([a_line(T0), a_line(T0 + 60.0)])
    await books.ledger.write([a_line(T0 - 60.0)])
    await books.ledger.write([])

    assert await books.ledger.billed_until() == T0 + 120.0


async def test_an_override_is_in_force_until_it_holds_nothing(books: Books) -> None:
    await books.overrides.put(an_override(paused=True))
    await books.overrides.put(an_override(paused=True, pinned=3))
    assert {"chat": an_override(paused=True, pinned=3)} == await books.overrides.overrides()

    await books.overrides.put(an_override(isolated=OUT))
    assert {"chat": an_override(isolated=OUT)} == await books.overrides.overrides()

    await books.overrides.put(an_override())
    assert await books.overrides.overrides() == {}


async def test_who_isolates_a_model_and_why_is_audited(books: Books) -> None:
    for override in (
        an_override(isolated=OUT),
        an_override(isolated=OUT, paused=True),
        an_override(paused=True),
    ):
        await books.overrides.put(override)

    entries = await books.audit.entries()

    assert [(entry.what, entry.detail, entry.ending) for entry in entries] == [
        ("rejoin", "", "done"),
        ("pause", "", "done"),
        ("isolate", "corrupt weights", "done"),
    ]


async def test_who_set_an_override_is_audited(books: Books) -> None:
    for override in (
        an_override(paused=True),
        an_override(paused=True, by="bob"),
        an_override(pinned=3),
        an_override(),
    ):
        await books.overrides.put(override)

    entries = await books.audit.entries()

    assert [(entry.who, entry.what, entry.detail, entry.ending) for entry in entries] == [
        ("ada", "unpin", "", "done"),
        ("ada", "resume + pin", "pinned at 3", "done"),
        ("bob", "pause", "", "unchanged"),
        ("ada", "pause", "", "done"),
    ]


async def test_audit_entries_come_newest_first(books: Books) -> None:
    for n in range(5):
        await books.audit.record(
            AuditEntry(at=T0 + n, who="ada", what=f"w{n}", subject="*", detail="", ending="done")
        )

    assert [entry.what for entry in await books.audit.entries(limit=2)] == ["w4", "w3"]


async def test_a_catalogue_is_a_new_version_only_when_its_text_differs(books: Books) -> None:
    first = await books.catalogues.add("a: 1", "fleet.yaml", "file", T0)
    same = await books.catalogues.add("a: 1", "other.yaml", "ada", T0 + 1.0)
    second = await books.catalogues.add("a: 2", "fleet.yaml", "file", T0 + 2.0)
    back = await books.catalogues.add("a: 1", "fleet.yaml", "file", T0 + 3.0)

    assert first == same
    assert [back, second, first] == list(await books.catalogues.versions())
    assert [back] == list(await books.catalogues.versions(limit=1))
    assert first.version < second.version < back.version


async def test_a_token_is_found_by_the_hash_of_its_secret(books: Books) -> None:
    token = Token(name="ci", role="viewer", created_at=T0, expires_at=T0 + 60.0)
    await books.tokens.add(token, secret_hash("s3cret"))

    assert token == await books.tokens.find(secret_hash("s3cret"))
    assert await books.tokens.find(secret_hash("S3cret")) is None
    assert [token] == list(await books.tokens.tokens())


async def test_a_second_token_of_the_same_name_is_refused(books: Books) -> None:
    token = Token(name="ci", role="viewer", created_at=T0)
    await books.tokens.add(token, secret_hash("one"))

    with pytest.raises(ValueError, match="a token named ci exists already"):
        await books.tokens.add(token, secret_hash("two"))

    assert await books.tokens.find(secret_hash("two")) is None


async def test_a_token_taken_away_opens_nothing(books: Books) -> None:
    await books.tokens.add(Token(name="ci", role="viewer", created_at=T0), secret_hash("one"))

    assert await books.tokens.remove("ci")
    assert not await books.tokens.remove("ci")
    assert await books.tokens.find(secret_hash("one")) is None
