"""The external scaler over its wire, asked as KEDA asks."""

import asyncio

import grpc
import pytest

from controlplane.adapters.keda.board import HELD_S, Board
from controlplane.adapters.keda.generated import externalscaler_pb2 as wire
from controlplane.adapters.keda.scaler import Scaler
from controlplane.clock import Clock, wall
from controlplane.domain.samples import Absence, Bad, NoData
from tests.adapters.keda.asking import A100, CHAT, CLASSES, FLEET, keda, refusal, said, scaler
from tests.builders import a_class_load, a_load

BROKEN = NoData(Absence.UNREACHABLE)


def a_board(queue: float = 0.0, target: int | None = 4, at: float | None = None) -> Board:
    board = Board()
    load = a_load(a_class_load(queue=queue), at=wall() if at is None else at)
    board.put([said(load, {} if target is None else {A100: target})], CLASSES)
    return board


async def test_keda_is_told_our_decision_at_one_a_replica() -> None:
    async with scaler(a_board(target=4)) as port, keda(port) as asking:
        assert await asking.spec() == ("target", 1, 1.0)
        assert await asking.value() == (4, 4.0)


async def test_k1_with_nothing_known_the_spec_is_answered_a_hundred_times_the_same() -> None:
    async with scaler(Board()) as port, keda(port) as asking:
        answers = {await asking.spec(metric="weighted_depth") for _ in range(100)}

    assert answers == {("weighted_depth", 5, 5.0)}


async def test_what_is_not_known_is_an_error_and_never_zero() -> None:
    async with scaler(Board()) as port, keda(port) as asking:
        code, why = await refusal(asking.value())
        assert (code, why) == (
            grpc.StatusCode.UNAVAILABLE,
            "target of chat is not known; it never was",
        )
        assert (await refusal(asking.active()))[0] is grpc.StatusCode.UNAVAILABLE


async def test_k3_while_a_backend_hangs_the_last_good_value_is_given_at_once() -> None:
    board = a_board(queue=9)
    load = a_load(a_class_load(queue=BROKEN), at=wall() + 10)
    board.put([said(load, {A100: 4})], CLASSES)
    async with scaler(board) as port, keda(port) as asking:
        async with asyncio.timeout(1):
            assert await asking.value(metric="weighted_depth") == (27, 27.0)


async def test_k3_a_value_that_is_too_old_is_an_error_with_its_age() -> None:
    board = a_board(at=wall() - HELD_S - 60)
    async with scaler(board) as port, keda(port) as asking:
        code, why = await refusal(asking.value())

    assert code is grpc.StatusCode.UNAVAILABLE
    assert "was known 360 s ago" in why


async def test_k6_no_replica_and_one_queued_request_is_active() -> None:
    async with scaler(a_board(queue=1, target=0)) as port, keda(port) as asking:
        assert await asking.active()
        assert await asking.value() == (0, 0.0)


async def test_k6_every_series_is_there_as_zero_before_anybody_asked() -> None:
    async with scaler(a_board(target=1)) as port, keda(port) as asking:
        for metric in ("drain", "wait_p99", "weighted_depth"):
            assert await asking.value(metric=metric) == (0, 0.0)


async def test_nothing_wanted_and_nobody_waiting_is_not_active() -> None:
    async with scaler(a_board(target=0)) as port, keda(port) as asking:
        assert not await asking.active()


async def test_nobody_waiting_before_a_decision_is_not_known_to_be_inactive() -> None:
    """A daemon that has just come up must not let KEDA empty what serves."""
    async with scaler(a_board(target=None)) as port, keda(port) as asking:
        assert (await refusal(asking.active()))[0] is grpc.StatusCode.UNAVAILABLE


async def test_one_who_waits_before_a_decision_is_active() -> None:
    async with scaler(a_board(queue=1, target=None)) as port, keda(port) as asking:
        assert await asking.active()


async def test_the_stream_tells_when_it_becomes_active() -> None:
    board = a_board(target=0)
    async with scaler(board) as port, keda(port) as asking:
        stream = asking.stream()
        assert await anext(stream) is False
        load = a_load(a_class_load(queue=1), at=wall())
        board.put([said(load, {A100: 0})], CLASSES)
        async with asyncio.timeout(30):
            assert await anext(stream) is True


async def test_the_stream_misses_nothing_that_changes_while_it_tells() -> None:
    """What is put before the listener has taken the last answer is told after it."""
    board = a_board(target=0)
    told = Scaler(board, lambda: FLEET, Clock()).stream_is_active(
        wire.ScaledObjectRef(scalerMetadata={"model": CHAT}), None
    )
    assert not (await anext(told)).result
    board.put([said(a_load(a_class_load(queue=1), at=wall()), {A100: 0})], CLASSES)
    async with asyncio.timeout(30):
        assert (await anext(told)).result


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ({"model": "chta"}, "model: 'chta' is not known; did you mean chat?"),
        ({"class_": "H100"}, "class: 'H100' is not known; did you mean A100-80G?"),
        ({"metric": "draim"}, "metric: 'draim' is not known; did you mean drain?"),
        *(
            ({"targetValue": size}, f"targetValue: '{size}' must be a whole number, at least 1")
            for size in ("five", "-1", "0", "0.6", "1_0", "nan", "1e400", "", "9" * 10, "9" * 80)
        ),
        (
            {"targetValue": "5"},
            "targetValue: '5' must be 1 for the metric target: each replica stands for one",
        ),
        ({"model": "c" * 100_000}, f"model: '{'c' * 80}…' is not known; there are chat"),
    ],
)
async def test_a_trigger_that_asks_for_what_there_is_not_is_told_in_one_sentence(
    metadata: dict[str, str], why: str
) -> None:
    async with scaler(a_board()) as port, keda(port) as asking:
        code, told = await refusal(asking.spec(**metadata))

    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert told == f"ScaledObject inference/chat: {why}"


async def test_triggers_in_the_seeds_own_words_are_understood() -> None:
    async with scaler(a_board(queue=2)) as port, keda(port) as asking:
        metadata = {"metricName": "weighted_depth", "targetValue": "7"}
        assert await asking.spec(**metadata) == ("weighted_depth", 7, 7.0)


async def test_a_model_that_left_the_catalogue_is_forgotten() -> None:
    board = a_board()
    board.put([], CLASSES)

    assert board.entry(CHAT, A100, "target") is None


async def test_a_bad_sample_never_becomes_a_number() -> None:
    board = Board()
    board.put([said(a_load(a_class_load(queue=Bad("NaN")), at=wall()))], CLASSES)
    async with scaler(board) as port, keda(port) as asking:
        assert (await refusal(asking.value(metric="drain")))[0] is grpc.StatusCode.UNAVAILABLE


async def test_time_is_the_worlds() -> None:
    clock = Clock(rate=60.0)
    async with scaler(a_board(at=clock.now()), clock=clock) as port, keda(port) as asking:
        assert await asking.value() == (4, 4.0)
