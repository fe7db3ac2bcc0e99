"""KEDA 2.21 takes the float where it is above 0, one before 2.17 the whole number: the same."""

import pytest
from grpc import aio

from controlplane.adapters.keda.board import METRICS, Board
from controlplane.clock import wall
from tests.adapters.keda.asking import A100, CLASSES, keda, said, scaler
from tests.adapters.keda.older import OlderKeda
from tests.builders import a_class_load, a_load

MOST_EXACT = 2**53  # beyond, a float no longer holds every whole number


@pytest.mark.parametrize("wanted", [0, 1, 7, 1000, MOST_EXACT, MOST_EXACT + 1])
async def test_old_and_new_read_the_same(wanted: int) -> None:
    board = Board()
    load = a_load(a_class_load(queue=wanted), at=wall())
    board.put([said(load, {A100: wanted})], CLASSES)

    async with (
        scaler(board) as port,
        keda(port) as new,
        aio.insecure_channel(f"127.0.0.1:{port.port}") as channel,
    ):
        old = OlderKeda(channel)
        for metric in METRICS:
            _, size, size_float = await new.spec(metric=metric)
            whole, as_float = await new.value(metric=metric)
            assert await old.value(metric=metric) == (as_float if as_float > 0 else whole)
            assert await old.target(metric=metric) == (size_float if size_float > 0 else size)
