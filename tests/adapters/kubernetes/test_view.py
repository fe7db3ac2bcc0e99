"""The fleet as it is seen: what is not known is said, and is never an old picture (law 1)."""

from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import msgspec
import pytest

from controlplane.adapters.kubernetes.cache import Cache
from controlplane.adapters.kubernetes.client import Api
from controlplane.adapters.kubernetes.connecting import connect
from controlplane.adapters.kubernetes.node_shape import Machine
from controlplane.adapters.kubernetes.pod_shape import Pod
from controlplane.adapters.kubernetes.view import Sight
from controlplane.domain.fleet import FleetView, free_devices
from controlplane.domain.quantities import ClassName, ReplicaName
from controlplane.domain.samples import Absence, NoData
from controlplane.ports import EngineAt, EngineState, UnavailableError
from tests.adapters.kubernetes.objects import AT_S, CATALOGUE, GPU, a_machine, a_pod, kept, runs
from tests.adapters.kubernetes.test_connecting import GOOD
from tests.adapters.kubernetes.test_inventory import A100, T4
from tests.adapters.kubernetes.told import Told

NOW = AT_S + 100
X = ClassName("T4")


@pytest.fixture
async def cache(tmp_path: Path) -> AsyncIterator[Cache]:
    file = tmp_path / "config"
    file.write_text(GOOD, "utf-8")
    api = Api(await connect(file))
    made = Cache(api, "models", lambda: None, Random(1))
    for watch in (made.nodes, made.pods):
        watch._stands()
    yield made
    await api.close()


def put(cache: Cache, *items: Machine | Pod | None) -> None:
    for item in items:
        assert item is not None
        if isinstance(item, Machine):
            cache.nodes.items[item.key] = item
            cache.nodes.revision += 1
        else:
            cache.pods.items[item.key] = item


async def seen(cache: Cache, told: Told | None = None, sight: Sight | None = None) -> FleetView:
    return await (sight or Sight(cache)).view(CATALOGUE, told or Told(), NOW)


async def test_nodes_and_pods_become_the_fleet(cache: Cache) -> None:
    put(cache, a_machine({GPU: 4}, T4), a_machine({}, name="cpu"))
    put(cache, a_pod(runs(), lane="serving"))

    view = await seen(cache)

    assert view.at == NOW
    assert isinstance(view.nodes, tuple)
    assert [node.name for node in view.nodes] == ["n1"]
    assert [(r.name, r.node, r.zone) for r in view.replicas] == [("chat-1", "n1", "z1")]
    assert msgspec.json.decode(msgspec.json.encode(view), type=FleetView) == view


async def test_pods_of_others_take_devices_that_are_then_not_free(cache: Cache) -> None:
    put(cache, a_machine({GPU: 4}, T4))
    put(cache, a_pod(runs()), a_pod(runs(), name="notebook", model="", devices={GPU: "2"}))
    put(cache, a_pod(runs(), name="chat-1", namespace="other"))  # another daemon's

    view = await seen(cache)

    assert view.others == {"n1": 3}
    assert isinstance(view.nodes, tuple)
    assert free_devices(view.nodes, view.replicas, {}, view.others) == {"n1": 0}


async def test_a_replica_holds_what_its_pod_asks_for_whatever_the_catalogue_says(
    cache: Cache,
) -> None:
    put(cache, a_machine({GPU: 4}, T4), a_pod(runs(), devices={GPU: "3"}))

    view = await seen(cache)

    assert isinstance(view.nodes, tuple)
    assert free_devices(view.nodes, view.replicas, {}) == {"n1": 1}


async def test_a_time_sliced_nodes_shares_are_no_more_devices_than_there_are(cache: Cache) -> None:
    sliced = {**T4, "nvidia.com/gpu.replicas": "4"}
    put(cache, a_machine({GPU: 16}, sliced))
    put(cache, *(a_pod(runs(), name=f"x{n}", model="") for n in range(9)))

    assert (await seen(cache)).others == {"n1": 4}


async def test_a_slice_of_a_mixed_machine_is_a_node_of_its_own(cache: Cache) -> None:
    slices = "nvidia.com/mig-3g.20gb"
    labels = {**A100, f"{slices}.product": "A100-MIG", f"{slices}.memory": "19968"}
    put(cache, a_machine({GPU: 2, slices: 2}, labels))
    put(cache, a_pod(runs(), node_class="MIG-3g.20gb", devices={slices: "1"}))
    put(cache, a_pod(runs(), name="x", model="", devices={slices: "1"}))

    view = await seen(cache)

    assert view.replicas[0].node == "n1/mig-3g.20gb"
    assert view.others == {"n1/mig-3g.20gb": 1}


async def test_p1_a_forbidden_node_list_is_no_data_and_not_no_nodes(cache: Cache) -> None:
    put(cache, a_pod(runs(), lane="serving"))
    cache.nodes.forbidden, cache.nodes.failure = True, "list nodes is forbidden to ann"

    view = await seen(cache)

    assert view.nodes == NoData(Absence.FORBIDDEN, "list nodes is forbidden to ann")
    assert view.replicas[0].serving  # nothing is said against a node that is not known


async def test_r4_what_stands_on_a_silent_or_vanished_node_is_not_in_service(
    cache: Cache,
) -> None:
    put(cache, a_machine({GPU: 4}, T4, ready="Unknown"))
    put(cache, a_pod(runs(), lane="serving"))
    put(cache, a_pod(runs(), name="chat-2", node="n9", lane="serving"))

    view = await seen(cache)

    assert [(r.serving, r.note) for r in view.replicas] == [
        (False, "node n1 is silent"),
        (False, "node n9 is gone"),
    ]


async def test_a_node_that_is_missing_in_an_old_list_is_not_gone(cache: Cache) -> None:
    put(cache, a_pod(runs(), node="n9", lane="serving"))
    cache.nodes._broke("connection refused")

    assert (await seen(cache)).replicas[0].serving


async def test_what_was_broken_for_too_long_is_not_known(cache: Cache) -> None:
    put(cache, a_machine({GPU: 4}, T4), a_pod(runs()))
    cache.nodes._broke("connection refused")
    assert cache.nodes._broken_at is not None
    cache.nodes._broken_at -= 10
    assert isinstance((await seen(cache)).nodes, tuple)
    assert (await seen(cache)).at == pytest.approx(NOW - 10, abs=1)  # as old as it is

    cache.nodes._broken_at -= 10
    assert (await seen(cache)).nodes == NoData(Absence.UNREACHABLE, "connection refused")

    cache.pods._broke("connection refused")
    assert cache.pods._broken_at is not None
    cache.pods._broken_at -= 20
    with pytest.raises(UnavailableError, match="the pods are not known: connection refused"):
        await seen(cache)


async def test_what_was_never_listed_is_not_known(cache: Cache) -> None:
    cache.nodes.synced = cache.pods.synced = False

    with pytest.raises(UnavailableError, match="not known"):
        await seen(cache)


async def test_an_api_server_that_hangs_makes_the_picture_old_though_no_watch_breaks(
    cache: Cache,
) -> None:
    put(cache, a_pod(runs()))
    cache._alive_at = -1000.0

    with pytest.raises(UnavailableError, match="has not answered for"):
        await seen(cache)


async def test_what_did_not_change_is_not_built_again(cache: Cache) -> None:
    sight, told = Sight(cache), Told()
    put(cache, a_machine({GPU: 4}, T4), a_pod(runs()), a_pod(runs(), name="chat-2"))
    first = await seen(cache, told, sight)
    told.states["chat-2"] = EngineState(at=NOW, healthy=True)

    second = await seen(cache, told, sight)

    assert second.nodes is first.nodes
    assert second.replicas[0] is first.replicas[0]
    assert second.replicas[1].healthy


async def test_engines_are_asked_where_their_container_runs_and_has_an_address(
    cache: Cache,
) -> None:
    put(cache, a_machine({GPU: 4}, T4))
    put(cache, a_pod(runs(), lane="serving"), a_pod(runs(), name="chat-2"))
    put(cache, a_pod({"phase": "Pending", "podIP": ""}, name="chat-3"))
    put(cache, a_pod(runs(), name="chat-4", deletionTimestamp="2026-08-01T10:00:00Z"))
    put(cache, a_pod(runs(), name="other", model="unheard-of"))
    put(cache, a_pod(runs(), name="theirs", namespace="other"))

    engines = await Sight(cache).engines_at(CATALOGUE)

    first = kept(a_pod(runs()))
    serving = CATALOGUE.models[engines[0].model].serving
    assert engines[0] == EngineAt(
        replica=ReplicaName("chat-1"), model=engines[0].model, node_class=X,
        host="10.244.0.9", serving=serving, serves=True, started=first.started,
    )  # fmt: skip
    assert [(e.replica, e.serves) for e in engines] == [("chat-1", True), ("chat-2", False)]


async def test_the_ground_of_a_class_is_what_its_nodes_say(cache: Cache) -> None:
    image = "vllm/vllm-openai:v0.11.0"
    taint = [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]
    shared = {**T4, "nvidia.com/gpu.product": "Tesla-T4-SHARED"}
    put(cache, a_machine({GPU: 4}, T4, taints=taint, images=[f"docker.io/{image}"]))
    put(cache, a_machine({GPU: 4}, shared, name="n2"), a_machine({GPU: 8}, A100, name="n3"))

    ground = Sight(cache).ground(CATALOGUE, X, image)

    assert ground.values == {"nvidia.com/gpu.product": ("Tesla-T4", "Tesla-T4-SHARED")}
    assert ground.hosts == ("n1", "n2")
    assert ground.taints == ("nvidia.com/gpu",)
    assert ground.with_image == ("n1",)


async def test_a_pod_that_does_not_say_its_class_has_its_nodes(cache: Cache) -> None:
    put(cache, a_machine({GPU: 4}, T4), a_pod(runs(), node_class=""))

    assert (await seen(cache)).replicas[0].node_class == X
