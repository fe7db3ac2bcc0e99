"""The read model against figures worked out by hand from the small fleet in conftest."""

from typing import Any

import msgspec
import pytest

from controlplane.domain.fleet import FleetView
from controlplane.domain.quantities import NodeName
from controlplane.domain.replicas import Lane
from controlplane.domain.samples import Absence, NoData
from controlplane.http.reads.detail import model_detail
from controlplane.http.reads.fleet import fleet
from controlplane.http.reads.models import model_rows
from controlplane.http.reads.series import series
from controlplane.http.state import State
from tests.builders import A100, CHAT
from tests.http.conftest import T0, a_view


async def test_devices_are_drawn_with_who_holds_them_and_how_full_they_are(state: State) -> None:
    found = await fleet(state)

    a100 = next(pool for pool in found.pools if pool.node_class == A100)
    first, second = a100.nodes
    assert [cell.replica for cell in first.devices] == ["chat-1", "chat-2", None, None]
    assert second.devices[0].lane == Lane.WARM
    assert first.devices[0].fill == 60.0 / 80.0  # the model's need over the device's size
    assert a100.stranded_share == 1 - 60.0 / 80.0
    assert [row.note for row in a100.pending] == ["0/2 nodes fit"]


async def test_a_replica_keeps_its_device_when_an_older_one_leaves(state: State) -> None:
    await fleet(state)
    view = a_view()
    left = tuple(replica for replica in view.replicas if replica.name != "chat-1")
    state.history.view = FleetView(at=T0, nodes=view.nodes, replicas=left)
    for name in ("pools", "fleet"):
        state.shared.forget(name)

    a100 = next(pool for pool in (await fleet(state)).pools if pool.node_class == A100)

    assert [cell.replica for cell in a100.nodes[0].devices] == [None, "chat-2", None, None]


async def test_the_sums_are_those_of_the_small_fleet(state: State) -> None:
    found = (await fleet(state)).sums

    assert (found.held, found.devices) == (3, 8)
    assert found.micros_per_hour == 8 * 3_000_000  # every device is paid for
    assert found.warm_micros_per_hour == 3_000_000
    assert found.idle_micros_per_hour == 5 * 3_000_000
    # Of three devices held two serve, half busy: one device's worth of three is used.
    assert found.idle_share == pytest.approx(1 - 1 / 3)


async def test_unknown_inventory_has_no_sums_and_says_why(state: State) -> None:
    state.history.view = FleetView(at=T0, nodes=NoData(Absence.FORBIDDEN), replicas=())

    found = await fleet(state)

    assert found.inventory == "Forbidden"
    assert found.sums.devices is None
    assert found.sums.micros_per_hour is None


async def test_a_row_shows_the_class_farthest_beyond_its_limit(state: State) -> None:
    chat = next(row for row in await model_rows(state) if row.name == CHAT)

    assert (chat.wait_class, chat.wait.value, chat.wait.limit) == ("medium", 0.9, 0.8)
    assert chat.lanes is not None
    assert (chat.lanes.serving, chat.lanes.warm, chat.lanes.loading, chat.lanes.pending) == (
        2,
        1,
        1,
        1,
    )
    assert chat.cost_micros_per_hour == 3 * 3_000_000  # the pending one holds nothing
    assert chat.warm_micros_per_hour == 3_000_000
    assert chat.memory.value == 0.6
    assert chat.memory.limit == 0.85
    assert chat.last is not None
    assert chat.last.target > chat.last.current


async def test_samples_that_are_too_old_are_stale_and_say_since_when(state: State) -> None:
    old = {CHAT: _aged(state.history.loads[CHAT], 120.0)}
    state.history.loads = old

    chat = next(row for row in await model_rows(state) if row.name == CHAT)

    assert chat.wait.value is None
    assert chat.wait.why == "Stale"
    assert chat.wait.since == pytest.approx(T0 - 120, abs=1)


def _aged(load: Any, seconds: float) -> Any:
    text = msgspec.json.encode(load).decode().replace(f'"at":{T0}', f'"at":{T0 - seconds}')
    return msgspec.json.decode(text, type=type(load))


async def test_every_line_of_the_charts_is_as_long_as_the_axis(state: State) -> None:
    found = await series(state, CHAT, T0 - 200)

    assert found is not None
    length = len(found.at)
    assert length == 40
    for lines in (found.arrivals, found.queue, found.wait_p99, found.latency_p99, found.lanes):
        assert {len(line) for line in lines.values()} == {length}
    assert found.latency_p99["high"] == (None,) * length  # gaps, not zeros
    assert [mark.id for mark in found.marks] == [2]
    assert found.wait_limits == {"high": 0.1, "medium": 0.8, "low": 10.0}


async def test_a_models_page_says_where_it_can_run_and_what_it_cost_today(state: State) -> None:
    found = await model_detail(state, CHAT)

    assert found is not None
    assert [(row.node_class, row.fits) for row in found.matches] == [
        ("A100-80G", True),
        ("T4", False),
    ]
    assert found.cost_today_micros == 50_000 + 20_000 + 50_000
    assert await model_detail(state, "nobody") is None


async def test_a_silent_nodes_device_is_marked_as_lost(state: State) -> None:
    view = a_view()
    assert not isinstance(view.nodes, NoData)
    lost = msgspec.structs.replace(view.replicas[0], node_ready=False)
    state.history.view = FleetView(
        at=T0,
        nodes=(msgspec.structs.replace(view.nodes[0], ready=False), view.nodes[1]),
        replicas=(lost, *view.replicas[1:]),
    )

    found = await fleet(state)

    a100 = next(pool for pool in found.pools if pool.node_class == A100)
    assert a100.nodes[0].name == NodeName("a100-01")
    assert a100.nodes[0].devices[0].lost
    assert next(row for row in found.models if row.name == CHAT).lanes.lost == 1  # type: ignore[union-attr]  # seen
