"""Broadcasting pictures: on change, one computation and one frame for all, nobody left asleep."""

import asyncio
from typing import Any

import pytest

from controlplane.http.broadcast import Broadcast, Watched, framed
from controlplane.http.frame import Glance


@pytest.fixture
def thing() -> Watched:
    return Watched("fleet", as_html=False, glance=Glance())


async def test_equal_watchers_share_one_computation(thing: Watched) -> None:
    computed: list[Watched] = []

    async def compute(what: Watched) -> str:
        computed.append(what)
        return "x"

    broadcast = Broadcast(compute, _nothing)
    broadcast.watch([thing])
    broadcast.watch([Watched("fleet", as_html=False, glance=Glance())])
    await broadcast.tick()

    assert computed == [thing]


async def test_what_did_not_change_keeps_its_number(thing: Watched) -> None:
    texts = iter(["a", "a", "b"])

    async def compute(_: Watched) -> str:
        return next(texts)

    broadcast = Broadcast(compute, _nothing)
    broadcast.watch([thing])
    numbers = []
    for _ in range(3):
        await broadcast.tick()
        numbers.append(broadcast.pictures([thing])[thing].number)

    assert numbers == [1, 1, 2]


async def test_a_picture_that_fails_leaves_the_old_one_and_the_others(thing: Watched) -> None:
    other = Watched("models", as_html=False, glance=Glance())
    failing = False

    async def compute(what: Watched) -> str:
        if failing and what is thing:
            raise LookupError("gone")
        return "new" if failing else "old"

    broadcast = Broadcast(compute, _nothing)
    broadcast.watch([thing, other])
    await broadcast.tick()
    failing = True
    await broadcast.tick()

    pictures = broadcast.pictures([thing, other])
    assert (pictures[thing].text, pictures[other].text) == ("old", "new")


async def test_a_slow_watcher_finds_only_the_newest(thing: Watched) -> None:
    counted = iter(range(100))

    async def compute(_: Watched) -> str:
        return str(next(counted))

    broadcast = Broadcast(compute, _nothing)
    broadcast.watch([thing])
    for _ in range(50):
        await broadcast.tick()

    assert broadcast.pictures([thing])[thing].text == "49"


async def test_watchers_are_woken_some_at_a_time_and_all_of_them(thing: Watched) -> None:
    async def compute(_: Watched) -> str:
        return "x"

    broadcast = Broadcast(compute, _nothing)
    broadcast.watch([thing])
    woken: list[int] = []

    async def watcher(number: int) -> None:
        await broadcast.ticked()
        woken.append(number)

    watchers = [asyncio.create_task(watcher(number)) for number in range(95)]
    await asyncio.sleep(0)
    watchers[3].cancel()
    await broadcast.tick()
    among = len(woken)
    await asyncio.gather(*watchers, return_exceptions=True)

    assert 0 < among < 94
    assert sorted(woken) == [number for number in range(95) if number != 3]


async def test_the_end_wakes_everybody(thing: Watched) -> None:
    async def compute(_: Watched) -> str:
        return "x"

    broadcast = Broadcast(compute, _nothing)
    broadcast.watch([thing])
    watchers = [asyncio.create_task(broadcast.ticked()) for _ in range(30)]
    await asyncio.sleep(0)
    broadcast.close()

    async with asyncio.timeout(1):
        await asyncio.gather(*watchers)
        await broadcast.ticked()  # nobody waits any more


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("one", ["one"]),
        ("a\nb\r\nc\rd", ["a", "b", "c", "d"]),
        ("ends\n", ["ends", ""]),
        ("data: x\n\nevent: y", ["data: x", "", "event: y"]),
        ("\u2028 is no line end", ["\u2028 is no line end"]),
    ],
)
def test_an_event_is_one_frame_whatever_its_text(text: str, lines: list[str]) -> None:
    written = framed(text, "fleet", "b-7").decode()

    head, _, rest = written.partition("event: fleet\r\n")
    assert head == "id: b-7\r\n"
    assert rest == "".join(f"data: {line}\r\n" for line in lines) + "\r\n"


async def test_a_picture_is_written_once_for_all_its_watchers(thing: Watched) -> None:
    """200 pages that watch the fleet must not each format it anew: that held up every loop."""

    async def compute(_: Watched) -> str:
        return "x"

    broadcast = Broadcast(compute, _nothing)
    broadcast.watch([thing])
    broadcast.watch([thing])
    await broadcast.tick()

    first, second = (broadcast.pictures([thing])[thing] for _ in range(2))
    assert first.frame is second.frame
    assert first.frame == framed("x", "fleet", f"{broadcast.boot}-1")


async def _nothing() -> Any:
    return None
