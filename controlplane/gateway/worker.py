"""An admission worker: a process of its own, so that deciding on a fleet never holds up a request.

It reads commands from standard input and writes events to standard output, and ends when the daemon
does: Envoy then lets running requests finish and answers new ones itself.
"""

import asyncio
import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import BinaryIO, Protocol, TypeAlias

import msgspec
import uvloop

from controlplane.decide.breakers.answers import Meaning
from controlplane.decide.breakers.happenings import MARKS
from controlplane.domain.gateway import GatewayPlan
from controlplane.gateway.door import Door
from controlplane.gateway.ended import Ended
from controlplane.gateway.messages import (
    Breach,
    Close,
    Command,
    Counted,
    Event,
    Foreign,
    Heard,
    Open,
    Probe,
    Probing,
    Ready,
    Serve,
    Shut,
    Sync,
    Synced,
    line,
)
from controlplane.gateway.sharing import Sharing
from controlplane.gateway.tally import ClassTally
from controlplane.ports.shares import Shares

COUNT_EVERY_S = 0.5
Sharer: TypeAlias = Callable[[str, str], Shares]  # address and own name in
LONGEST_LINE = 1 << 28  # a plan of thousands of models is one line


class Front(Protocol):
    """What takes requests: the server Envoy asks, or the proxy."""

    async def stop(self, grace_s: float) -> None:
        """Take nothing new; let what is under way finish, for so long."""
        ...


class Worker:
    """Serves requests as it is told."""

    def __init__(self, opened: Open, out: BinaryIO, sharing: Sharer | None) -> None:
        """Open the door; nothing is served before the first plan."""
        self.opened = opened
        self._out = out
        self.door = Door(self._breach, opened.share)
        self.over = asyncio.Event()
        self.sharing: Sharing | None = None
        if opened.shared:
            if sharing is None:
                raise TypeError("a worker that shares slots must be told how")
            self.sharing = Sharing(self.door, sharing(opened.shared, opened.name))
        self._front: Front | None = None

    def tell(self, event: Event) -> None:
        """Say something to the daemon; one that is gone hears nothing."""
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._out.write(line(event))
            self._out.flush()

    async def obey(self, command: Command) -> None:
        """Do what the daemon says."""
        match command:
            case Serve(plan=plan):
                self._take_part(plan)
                self.door.serve(plan)
                if self._front is None:
                    await self._start()
            case Shut(models=models):
                self.door.shut(models)
            case Probe(model=model):
                self.door.probe(model)
            case Foreign(models=models):
                self.door.carry(models)
            case Sync(number=number):
                self.tell(Synced(number))
            case Close(grace_s=grace_s):
                await self._close(grace_s)
            case _:
                pass

    def _take_part(self, plan: GatewayPlan) -> None:
        """Take an even part among gateways, where nothing shares the slots out, or cannot."""
        self.door.share = self.opened.share / max(len(plan.peers), 1)
        if self.sharing is None:
            for desk in self.door.desks.values():
                desk.share = self.door.share

    async def _start(self) -> None:
        port = 0
        if self.opened.proxy is not None:
            proxy = _only("proxy").Proxy(self.door, self._heard, self._probing)
            port = await proxy.start(*self.opened.proxy)
            self._front = proxy
        else:
            secret = self.opened.secret
            front = _only("front").EnvoyFront(self.door, secret, self._heard, self._probing)
            await front.start(self.opened.listen)
            self._front = front
        gc.collect()
        gc.freeze()  # what is there now stays; a collection must not hold a request up
        self.tell(Ready(port))

    async def _close(self, grace_s: float) -> None:
        if self._front is not None:
            await self._front.stop(grace_s)
        self.count()
        self.over.set()

    def count(self) -> None:
        """Report everything counted so far."""
        self._report(self.door.look())

    def _report(self, models: dict[str, list[ClassTally]]) -> None:
        sharing = self.sharing
        self.tell(
            Counted(
                models=models,
                unplaced=self.door.unplaced,
                degraded=sharing is not None and sharing.degraded,
                shared_s=(0, 0.0) if sharing is None else (sharing.asked, sharing.spent_s),
            )
        )

    def _breach(self, model: str, why: str) -> None:
        """Whoever decides on it looks at once, and is to see what it is about."""
        self._report(self.door.look_at(model))
        self.tell(Breach(model, why))

    def _probing(self, model: str) -> None:
        self.tell(Probing(model))

    def _heard(self, ended: list[Ended]) -> None:
        """Pass on how requests ended, model by model, in order."""
        models: dict[str, list[str]] = {}
        probes: dict[str, str] = {}
        for one in ended:
            if one.probe:
                probes[one.model] = MARKS[one.meant]
            elif one.meant is not Meaning.NEITHER:
                models.setdefault(one.model, []).append(MARKS[one.meant])
        if models or probes:
            self.tell(Heard({name: "".join(marks) for name, marks in models.items()}, probes))


def _only(name: str) -> ModuleType:
    """Load a front; the other one, and all it needs, stays away."""
    return import_module(f"controlplane.gateway.{name}")


async def run(source: BinaryIO, out: BinaryIO, sharing: Sharer | None) -> None:
    """Work until told to end, or until the daemon is gone."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    decode = msgspec.json.Decoder(Command).decode
    opened = decode(await reader.readline())
    if not isinstance(opened, Open):
        raise TypeError("the first message opens a worker")
    worker = Worker(opened, out, sharing)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _ignored)  # the daemon says when and how to end
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(_listen(reader, decode, worker)),
            group.create_task(_count(worker)),
        ]
        if worker.sharing is not None:
            tasks.append(group.create_task(worker.sharing.run()))
        await worker.over.wait()
        for task in tasks:
            task.cancel()
    if worker.sharing is not None:
        await worker.sharing.leave()


async def _listen(
    reader: asyncio.StreamReader, decode: Callable[[bytes], Command], worker: Worker
) -> None:
    while said := await reader.readline():
        await worker.obey(decode(said))
    worker.over.set()  # the daemon is gone


async def _count(worker: Worker) -> None:
    while True:
        await asyncio.sleep(COUNT_EVERY_S)
        worker.count()


def _ignored() -> None:
    """Leave it to the daemon."""


def main(sharing: Sharer | None = None) -> None:
    """Run as a process: events go where standard output was, prints to standard error."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run(sys.stdin.buffer, out, sharing))


if __name__ == "__main__":
    main()
