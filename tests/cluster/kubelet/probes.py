"""Probes, as a kubelet makes them: HTTP, TCP or a command; with delay, period and thresholds."""

import asyncio
from collections.abc import Callable, Mapping

import aiohttp

from tests.cluster.api import Manifest


class Target:
    """What can be asked about one container: its address, named ports and environment."""

    def __init__(self, address: str, container: Manifest, environment: Mapping[str, str]) -> None:
        self.address = address
        self.environment = environment
        self.pid: int | None = None  # of its process, while there is one
        self._ports = {
            port["name"]: port["containerPort"]
            for port in container.get("ports", ())
            if "name" in port
        }

    def port(self, port: int | str) -> int:
        """Give a port that may be named."""
        return port if isinstance(port, int) else int(self._ports[port])


async def asked(action: Manifest, target: Target, timeout_s: float) -> str:
    """Do one probe or hook; gives what is wrong, or an empty text."""
    try:
        async with asyncio.timeout(timeout_s):
            if "httpGet" in action:
                return await _http(action["httpGet"], target)
            if "tcpSocket" in action:
                return await _tcp(action["tcpSocket"], target)
            if "exec" in action:
                return await _exec(action["exec"]["command"], target)
            if "sleep" in action:
                await asyncio.sleep(action["sleep"]["seconds"])
    except TimeoutError:
        return f"no answer within {timeout_s:g} s"
    except (aiohttp.ClientError, OSError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


async def _http(action: Manifest, target: Target) -> str:
    host = action.get("host") or target.address
    scheme = action.get("scheme", "HTTP").lower()
    address = f"{scheme}://{host}:{target.port(action['port'])}{action.get('path', '/')}"
    headers = {header["name"]: header["value"] for header in action.get("httpHeaders", ())}
    async with (
        aiohttp.ClientSession() as session,
        session.get(address, headers=headers, ssl=False, allow_redirects=False) as answer,
    ):
        return "" if 200 <= answer.status < 400 else f"HTTP status {answer.status}"


async def _tcp(action: Manifest, target: Target) -> str:
    host = action.get("host") or target.address
    _, writer = await asyncio.open_connection(host, target.port(action["port"]))
    writer.close()
    await writer.wait_closed()
    return ""


async def _exec(command: list[str], target: Target) -> str:
    inside = ["nsenter", "--target", str(target.pid), "--mount", "--root"] if target.pid else []
    process = await asyncio.create_subprocess_exec(
        *inside,
        *command,
        env=dict(target.environment),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        process.kill()
        raise
    return "" if code == 0 else f"exit code {code}"


async def probing(probe: Manifest, target: Target, told: Callable[[bool, str], None]) -> None:
    """Probe for ever; tell when a threshold of successes or failures in a row is reached."""
    await asyncio.sleep(probe.get("initialDelaySeconds", 0))
    row, good = 0, True
    while True:
        wrong = await asked(probe, target, probe.get("timeoutSeconds", 1))
        row = row + 1 if good is not bool(wrong) else 1
        good = not wrong
        needed = probe.get("successThreshold", 1) if good else probe.get("failureThreshold", 3)
        if row >= needed:
            told(good, wrong)
        await asyncio.sleep(probe.get("periodSeconds", 10))
