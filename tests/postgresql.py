"""A real PostgreSQL for tests: its own cluster in a folder, on a socket, gone afterwards.

With a port it listens there on loopback too, for whoever does not see the folder: a pod.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Speed for safety: what a test wrote need not survive a power cut.
_OPTIONS = "-c fsync=off -c max_connections=30 -c shared_buffers=16MB"


def programs() -> Path | None:
    """Give the folder of initdb and pg_ctl, which Debian keeps out of the PATH."""
    found = shutil.which("pg_ctl")
    if found:
        return Path(found).parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    return versions[-1].parent if versions else None


@contextmanager
def postgresql(port: int | None = None) -> Iterator[str]:
    """Run a server; gives the URL of its empty database."""
    folder = programs()
    if folder is None:
        raise FileNotFoundError("pg_ctl")
    # PostgreSQL refuses to run as root. Its socket's path must be short, hence not pytest's folder.
    account = "nobody" if os.getuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="pg") as home:
        cluster = Path(home) / "data"
        if account is not None:
            shutil.chown(home, account)

        def call(program: str, *arguments: str) -> None:
            subprocess.run(
                [folder / program, *arguments],
                user=account, check=True, cwd=home,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )  # fmt: skip

        call("initdb", "-D", str(cluster), "-A", "trust", "-U", "fleet", "-E", "UTF8", "-N")
        call(
            "pg_ctl",
            "-D",
            str(cluster),
            "-w",
            "-l",
            f"{home}/log",
            "-o",
            f"{_OPTIONS} {_listening(port)} -k {home}",
            "start",
        )
        try:
            yield (
                f"postgresql://fleet@/postgres?host={home}"
                if port is None
                else (f"postgresql://fleet@127.0.0.1:{port}/postgres")
            )
        finally:
            call("pg_ctl", "-D", str(cluster), "-w", "-m", "immediate", "stop")


def _listening(port: int | None) -> str:
    return "-c listen_addresses=''" if port is None else f"-c listen_addresses=127.0.0.1 -p {port}"
