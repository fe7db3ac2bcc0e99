"""A daemon as `make run` starts it: how soon its page answers, and its memory once it idles.

    .venv/bin/python -m tests.benchmarks serve

Limits: the page within 3 s of the start, at most 140 MB after a minute with nobody looking. Memory
is what Linux counts as resident of the daemon's process; on a busy machine the processor's time
says how long the start would take on an idle one. The very first start makes the tables, in a
process of its own.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from tests.benchmarks.yardstick import additions_ns

IDLE_S = 60
UP = re.compile(r"is up at (\S+)")


def processor_s(pid: int) -> float:
    """Give the processor time a process has taken so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    """Give the memory a process holds, in MB of a million bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def serve(folder: str, start: str) -> None:
    """Start one, load its page once, leave it alone."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "controlplane", "serve", "--speed", "10", "--port", "0"]
    with subprocess.Popen([*command, "--data", folder], stdout=subprocess.PIPE) as daemon:
        try:
            assert daemon.stdout is not None
            up = UP.search(daemon.stdout.readline().decode())
            assert up is not None
            with urllib.request.urlopen(up[1], timeout=30) as page:
                page.read()
            wall, spent = time.perf_counter() - began, processor_s(daemon.pid)
            print(f"{start} start: first page after {wall:.1f} s, {spent:.1f} s of CPU (limit 3 s)")
            print(f"  as long as {spent / additions_ns() * 1e3:,.0f} million additions")
            time.sleep(IDLE_S)
            print(f"  idle for {IDLE_S} s: {resident_mb(daemon.pid):.0f} MB (limit 140 MB)")
        finally:
            daemon.terminate()


def main() -> None:
    """Start one on no store yet, and one on what that left."""
    with tempfile.TemporaryDirectory() as folder:
        serve(folder, "the very first")
        serve(folder, "any later")


if __name__ == "__main__":
    main()
