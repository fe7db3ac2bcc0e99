"""What Envoy talks to: admission, and how requests ended."""

from collections.abc import Callable

from controlplane.gateway import endings, extproc
from controlplane.gateway.door import Door
from controlplane.gateway.ended import Ended
from controlplane.gateway.endings import AccessLogs
from controlplane.gateway.extproc import EnvoyAdmission
from controlplane.gateway.http2.server import Server


class EnvoyFront:
    """Serves one Envoy, or several."""

    def __init__(
        self,
        door: Door,
        secret: str,
        heard: Callable[[list[Ended]], None],
        probing: Callable[[str], None],
    ) -> None:
        """Admit through this door; tell how requests ended, and which are probes."""
        self._logs = AccessLogs(heard)
        self._server = Server(
            {
                extproc.PATH: EnvoyAdmission(door, secret, probing).served,
                endings.PATH: self._logs.served,
            }
        )

    async def start(self, listen: str) -> None:
        """Listen on HOST:PORT or unix:PATH."""
        await self._server.start(listen)

    async def stop(self, grace_s: float) -> None:
        """Take nothing new; let what is under way finish, for so long."""
        self._logs.close()
        await self._server.stop(grace_s)
