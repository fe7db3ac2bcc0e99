"""Where a gateway may run: alone on its port, alone in its folder."""

import socket
from pathlib import Path

import pytest

from controlplane.domain.faults import FaultsError
from controlplane.gateway.site import alone, refuse_taken
from tests.emulation.stand import free_port


async def test_a_port_somebody_listens_on_is_refused_though_it_could_be_shared() -> None:
    with socket.socket() as first:
        first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        first.bind(("127.0.0.1", 0))
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(FaultsError, match=f"127.0.0.1:{port}: cannot be listened on"):
            await refuse_taken("127.0.0.1", port, pauses=())
    await refuse_taken("127.0.0.1", free_port())


async def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(FaultsError, match=r"192\.0\.2\.1:80: cannot be listened on"):
        await refuse_taken("192.0.2.1", 80)


def test_of_two_gateways_in_one_folder_the_second_is_refused(tmp_path: Path) -> None:
    runs = pytest.raises(FaultsError, match="another gateway runs in it")
    with alone(tmp_path), runs, alone(tmp_path):
        pass
    with alone(tmp_path):
        pass
