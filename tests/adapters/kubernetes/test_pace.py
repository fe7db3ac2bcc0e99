"""How fast the API server is asked and the loops are woken, in virtual time."""

import asyncio
import itertools

import pytest

from controlplane.adapters.kubernetes.cache import Stir
from controlplane.adapters.kubernetes.pace import Pace

pytestmark = pytest.mark.looptime


async def test_a_burst_passes_at_once_and_the_rest_at_the_pace() -> None:
    pace, began = Pace(per_s=50, burst=100), asyncio.get_running_loop().time()
    times: list[float] = []

    async def ask() -> None:
        await pace()
        times.append(asyncio.get_running_loop().time() - began)

    await asyncio.gather(*(ask() for _ in range(200)))

    assert times[99] == 0.0
    assert times[149] == pytest.approx(1.0)
    assert times[199] == pytest.approx(2.0)


async def test_what_was_not_used_is_saved_up_to_one_burst() -> None:
    pace = Pace(per_s=10, burst=5)
    for _ in range(5):
        await pace()
    await asyncio.sleep(60)
    began = asyncio.get_running_loop().time()

    for _ in range(6):
        await pace()

    assert asyncio.get_running_loop().time() - began == pytest.approx(0.1)


async def test_a_change_wakes_at_once_and_a_storm_once_a_gap() -> None:
    woken: list[float] = []
    loop = asyncio.get_running_loop()
    began = loop.time()
    stir = Stir(lambda: woken.append(loop.time() - began), gap_s=0.1)

    for _ in range(1000):
        stir()
        await asyncio.sleep(0.001)
    await asyncio.sleep(1)

    assert woken[0] == pytest.approx(0.0, abs=0.002)
    assert len(woken) <= 12
    assert min(b - a for a, b in itertools.pairwise(woken)) >= 0.099


async def test_the_last_change_of_a_storm_is_not_forgotten() -> None:
    woken: list[float] = []
    loop = asyncio.get_running_loop()
    stir = Stir(lambda: woken.append(loop.time()), gap_s=0.1)
    stir()
    await asyncio.sleep(0.01)
    changed = loop.time()
    stir()

    await asyncio.sleep(0.2)

    assert woken[-1] >= changed
