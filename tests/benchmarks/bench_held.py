"""What a held request takes in memory, of ours and of Envoy's, with ten thousand held at once.

    .venv/bin/python -m tests.benchmarks held

The clients are raw sockets in this process. Ten thousand are let go at the end, and each must be
answered.
"""

import asyncio
import tempfile
from pathlib import Path

from tests.gateway.crowd import CROWD, a_crowd_plan, crowd, enough_files, memory_kib
from tests.gateway.engine import Engine
from tests.gateway.running import ask, running


async def main() -> None:
    wanting = enough_files()
    if wanting:
        raise SystemExit(wanting)
    folder = Path(tempfile.mkdtemp())
    async with Engine() as engine, running(folder, a_crowd_plan(), concurrency=1) as run:
        await ask(run.port, "/models/other/")  # all is loaded now
        assert run.gateway.envoy is not None
        assert run.gateway.envoy.pid is not None
        whose = {"ours": run.gateway.pids, "Envoy's": [run.gateway.envoy.pid]}
        before = {name: memory_kib(pids) for name, pids in whose.items()}
        held = await crowd(run)
        each = {name: (memory_kib(pids) - before[name]) / CROWD for name, pids in whose.items()}
        await run.gateway.update(a_crowd_plan(engine))
        served = [(await made.reply()).status for made in held].count(200)
    took = ", ".join(f"{kib:.1f} KiB of {name}" for name, kib in each.items())
    print(f"{CROWD} held at once: {took} each; {served} served, {CROWD - served} lost")


if __name__ == "__main__":
    asyncio.run(main())
