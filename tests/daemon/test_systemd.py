"""What systemd hears, on a real socket: up, alive while the loops are, stopping."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from controlplane.daemon.systemd import Systemd, systemd
from controlplane.telemetry.heartbeats import Heartbeats

WATCHDOG_S = 0.09  # a beat every 30 ms
SEVERAL_S = 0.2


class Listener:
    """systemd's end of the socket."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)
        self._socket.setblocking(False)

    def heard(self) -> list[str]:
        said = []
        while True:
            try:
                said += self._socket.recv(4096).decode().splitlines()
            except BlockingIOError:
                return said

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    made = Listener(str(tmp_path / "notify"))
    yield made
    made.close()


def alive(*loops: str, ago: float = 0.0) -> Heartbeats:
    heartbeats = Heartbeats()
    for loop in loops:
        heartbeats.beat(loop, 5.0, asyncio.get_running_loop().time() - ago)
    return heartbeats


async def beat_for(manager: Systemd, heartbeats: Heartbeats, seconds: float) -> None:
    task = asyncio.create_task(manager.beat(heartbeats))
    await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def test_it_says_when_it_is_up_and_when_it_stops(listener: Listener) -> None:
    manager = Systemd(listener.address)
    manager.ready("up at http://127.0.0.1:8080")
    manager.stopping()

    assert listener.heard() == [
        "READY=1",
        "STATUS=up at http://127.0.0.1:8080",
        "STOPPING=1",
        "STATUS=stopping",
    ]


async def test_it_beats_while_all_loops_do(listener: Listener) -> None:
    manager = Systemd(listener.address, WATCHDOG_S)
    await beat_for(manager, alive("scaling", "spare"), SEVERAL_S)
    heard = listener.heard()

    assert heard.count("WATCHDOG=1") >= 3
    assert heard.count("STATUS=all loops run") == 1


async def test_it_beats_no_more_when_one_loop_is_silent_and_says_which(listener: Listener) -> None:
    heartbeats = alive("scaling")
    heartbeats.beat("spare", 5.0, asyncio.get_running_loop().time() - 16.0)
    await beat_for(Systemd(listener.address, WATCHDOG_S), heartbeats, SEVERAL_S)

    assert listener.heard() == ["STATUS=silent: spare"]


async def test_it_does_not_beat_before_any_loop_was_started(listener: Listener) -> None:
    await beat_for(Systemd(listener.address, WATCHDOG_S), Heartbeats(), SEVERAL_S)

    assert "WATCHDOG=1" not in listener.heard()


async def test_a_loop_that_never_finishes_its_first_cycle_is_silent() -> None:
    heartbeats, now = Heartbeats(), asyncio.get_running_loop().time()
    heartbeats.expect("scaling", 5.0, now)

    assert heartbeats.silent(now + 14.0) == []
    assert heartbeats.silent(now + 16.0) == ["scaling"]


async def test_an_event_loop_that_hangs_beats_no_more(listener: Listener) -> None:
    task = asyncio.create_task(Systemd(listener.address, WATCHDOG_S).beat(alive("scaling")))
    await asyncio.sleep(SEVERAL_S / 2)
    listener.heard()
    blocking_wait = socket.socketpair()
    blocking_wait[0].settimeout(SEVERAL_S)
    with pytest.raises(TimeoutError):
        blocking_wait[0].recv(1)  # the event loop stands still

    assert listener.heard() == []
    task.cancel()
    for end in blocking_wait:
        end.close()


def test_where_no_systemd_is_nothing_is_said_and_nothing_fails() -> None:
    systemd({}, 1).ready("up")
    Systemd("/nowhere/at/all").ready("up")


@pytest.mark.parametrize(
    ("told", "beats"),
    [
        ({"WATCHDOG_USEC": "30000000"}, True),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"}, True),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"}, False),  # meant for another
        ({"WATCHDOG_USEC": "soon"}, False),
        ({}, False),
    ],
)
def test_the_watchdog_is_this_process_s_and_no_child_inherits_it(
    told: dict[str, str], beats: bool
) -> None:
    environment = {**told, "NOTIFY_SOCKET": "/run/notify", "PATH": "/bin"}

    manager = systemd(environment, 7)

    assert environment == {"PATH": "/bin"}
    assert (manager._watchdog_s == 30.0) is beats


def test_an_abstract_socket_is_found() -> None:
    listener = Listener("\0controlplane-test-notify")
    Systemd("@controlplane-test-notify").ready("up")

    assert listener.heard()[0] == "READY=1"
    listener.close()
