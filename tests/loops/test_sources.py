"""Several sources as one: a source that fails does not take the others with it."""

from collections.abc import Mapping
from typing import Any

from controlplane.clock import Clock
from controlplane.domain.load import ModelLoad
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ModelName
from controlplane.loops.sources import OrderedSignals
from controlplane.ports import UnavailableError
from tests.builders import CHAT, a_catalogue, a_class_load, a_load, a_model
from tests.turns import turns_of_others


class Says:
    """A source with an answer."""

    def __init__(self, clock: Clock, queue: float, model: ModelName = CHAT) -> None:
        self._clock, self._queue, self._model = clock, queue, model

    async def loads(self) -> Mapping[ModelName, ModelLoad]:
        at = self._clock.now()
        load = a_load(a_class_load(queue=self._queue, at=at), at=at, model=self._model)
        return {self._model: load}


class Fails:
    """A source that cannot be had."""

    async def loads(self) -> Mapping[ModelName, ModelLoad]:
        raise UnavailableError("the gateway is away")


def signals(sources: Any, clock: Clock) -> OrderedSignals:
    fleet = a_catalogue()
    return OrderedSignals(sources, lambda: fleet, clock, lambda m, s: f"{s} of {m}")


async def test_a_source_that_is_away_is_passed_over_and_says_why() -> None:
    clock = Clock()
    both = signals({"gateway": Fails(), "prometheus": Says(clock, 4.0)}, clock)

    loads = await both.loads()

    assert loads[CHAT].classes[Priority.HIGH].queue.x == 4.0
    found = {read.signal: read for read in both.sources(CHAT) or ()}
    assert found["queue"].source == "prometheus"
    assert found["queue"].query == "queue of chat"
    assert [(o.source, o.why) for o in found["queue"].passed_over] == [
        ("gateway", "the gateway is away")
    ]
    assert both.notes == ("gateway: the gateway is away",)


async def test_a_model_that_is_not_catalogued_has_no_sources() -> None:
    clock = Clock()
    one = signals({"engines": Says(clock, 1.0)}, clock)
    await one.loads()

    assert one.sources("nobody") is None
    assert next(read.source for read in one.sources(CHAT) or ()) == "engines"


async def test_a_thousand_models_are_put_together_in_pieces() -> None:
    clock = Clock()
    fleet = a_catalogue({ModelName(f"m{number}"): a_model() for number in range(1_000)})
    many = OrderedSignals({"engines": Says(clock, 1.0)}, lambda: fleet, clock)

    with turns_of_others() as turns:
        loads = await many.loads()

    assert len(loads) == 1_000
    assert turns.got >= 40
