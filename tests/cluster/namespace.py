"""A network namespace of its own, in which every address of the pod range is a local one.

EndpointSlices refuse loopback addresses, so pods need others; and two test runs on one machine
must not meet. `unshare` gives a namespace of network and processes: whatever is started inside
ends with it, however it ends.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.cluster.programs import MissingError

PODS = "10.244.0.0/16"

_PACKAGES = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2",
             "openssl": "openssl"}  # fmt: skip
_FENCES = ("--net", "--pid", "--fork", "--kill-child", "--mount-proc")


def whole_root() -> bool:
    """Say whether we are root of the machine, not only of a namespace: then / can be overlaid."""
    return Path("/proc/self/uid_map").read_text("ascii").split() == ["0", "0", "4294967295"]


def check() -> None:
    """Say in one sentence what keeps us from having a namespace, if anything does."""
    for tool, package in _PACKAGES.items():
        if shutil.which(tool) is None:
            raise MissingError(f"{tool}: not installed; apt-get install {package}")
    tried = subprocess.run([*_unshare(), "ip", "link", "set", "lo", "up"],
                           check=False, capture_output=True, text=True)  # fmt: skip
    if tried.returncode:
        raise MissingError(
            f"network namespaces: refused here ({tried.stderr.strip()}); "
            "be root, or let unprivileged users have user namespaces"
        )


@cache
def _unshare() -> tuple[str, ...]:
    root = () if os.geteuid() == 0 else ("--map-root-user",)
    return ("unshare", *root, *_FENCES)


def inside(arguments: Sequence[str]) -> list[str]:
    """Give the command that runs `python -m tests.cluster ...` in a new namespace."""
    return [*_unshare(), sys.executable, "-m", "tests.cluster", *arguments]


def lives(noted: Path) -> bool:
    """Say whether the process lives whose id was noted in a file."""
    return noted.exists() and Path(f"/proc/{noted.read_text('ascii')}/ns/net").exists()


def first_process(unshare: int) -> int:
    """Find the first process in the namespace that an `unshare` made."""
    children = Path(f"/proc/{unshare}/task/{unshare}/children").read_text("ascii").split()
    return int(children[0])


def entered(pid: int, command: Sequence[str]) -> list[str]:
    """Give the command that runs another one in the namespace of a process."""
    user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
    fences = ["--net", "--pid", "--mount"]
    here = ["env", "--chdir", str(Path.cwd())]  # entering a mount namespace leaves the folder
    return ["nsenter", "--target", str(pid), *user, *fences, "--", *here, *command]


def furnish() -> None:
    """Make the addresses of pods local; called inside only."""
    for words in ("link set lo up", f"addr add {PODS} dev lo"):
        subprocess.run(["ip", *words.split()], check=True)
