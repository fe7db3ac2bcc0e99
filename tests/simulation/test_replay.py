"""Replaying a trace: once, in a loop, from anywhere, and scaled."""

import numpy as np
import pytest
from numpy.typing import NDArray

from controlplane.simulation.library import TRACES
from controlplane.simulation.replay import BLOCK, Replay, replayed
from controlplane.simulation.streams import generator
from controlplane.simulation.traces import RequestTrace, read_trace

CODE = read_trace(TRACES / "azure-2023-code.csv.gz")
HOUR = 3600.0


def times(replay: Replay, until: float = HOUR, trace: RequestTrace = CODE) -> NDArray[np.float64]:
    blocks = []
    for block in replayed(trace, replay, generator(1, "replay")):
        blocks.append(block.at)
        if len(block) and block.at[-1] >= until:
            break
    at = np.concatenate(blocks)
    return at[at < until]


def test_once_is_the_trace_as_it_is() -> None:
    np.testing.assert_array_equal(times(Replay(file="code")), CODE.at)


def test_a_loop_begins_anew_after_its_length() -> None:
    at = times(Replay(file="code", loop_s=HOUR), until=3 * HOUR)

    assert len(at) == 3 * len(CODE)
    np.testing.assert_allclose(at[len(CODE) : 2 * len(CODE)], CODE.at + HOUR)
    assert (np.diff(at) >= 0).all()


def test_a_start_cuts_off_what_lies_before_and_a_loop_repeats_the_stretch_after_it() -> None:
    once = times(Replay(file="code", start_s=1000))
    looped = times(Replay(file="code", start_s=1000, loop_s=600), until=1200)
    stretch = CODE.at[(CODE.at >= 1000) & (CODE.at < 1600)] - 1000

    np.testing.assert_allclose(once, CODE.at[CODE.at >= 1000] - 1000)
    np.testing.assert_allclose(looped, np.concatenate([stretch, stretch + 600]))


def test_a_stretch_without_requests_brings_none() -> None:
    assert (
        list(replayed(CODE, Replay(file="code", start_s=9000, loop_s=60), generator(1, "r"))) == []
    )


@pytest.mark.parametrize("factor", [0.3, 1.5, 7.0])
def test_a_factor_scales_the_number_of_requests_and_keeps_their_shape(factor: float) -> None:
    scaled = times(Replay(file="code", loop_s=HOUR, factor=factor))
    one = np.histogram(CODE.at, bins=60, range=(0, HOUR))[0].astype(float)
    two = np.histogram(scaled, bins=60, range=(0, HOUR))[0].astype(float)

    assert len(scaled) == pytest.approx(factor * len(CODE), rel=0.05)
    assert np.corrcoef(one, two)[0, 1] > 0.98
    assert (np.diff(scaled) >= 0).all()


def test_every_request_of_a_whole_factor_comes_so_often_with_its_own_tokens() -> None:
    blocks = replayed(CODE, Replay(file="code", factor=3), generator(1, "replay"))
    tokens = np.concatenate(
        [block.prompt_tokens for block in blocks if block.prompt_tokens is not None]
    )

    assert CODE.prompt_tokens is not None
    np.testing.assert_array_equal(np.sort(tokens), np.sort(np.repeat(CODE.prompt_tokens, 3)))


def test_scaling_holds_no_more_than_a_block_and_what_it_carries_over() -> None:
    largest = max(
        len(block) for block in replayed(CODE, Replay(file="code", factor=10), generator(1, "r"))
    )

    assert largest < 2 * 10 * BLOCK
