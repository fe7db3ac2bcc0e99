"""A pod becomes a replica: its lane, how far it is, and what is wrong with it."""

from typing import Any

import pytest

from controlplane.adapters.kubernetes.pod_shape import Pod
from controlplane.adapters.kubernetes.pods import Spot, replica
from controlplane.domain import marks
from controlplane.domain.quantities import ClassName, NodeName, Zone
from controlplane.domain.replicas import Lane, Phase, Replica, Stage
from controlplane.domain.samples import NOT_YET, Value
from controlplane.ports import EngineState
from tests.adapters.kubernetes.objects import (
    AT,
    AT_S,
    GPU,
    a_pod,
    container,
    kept,
    placed,
    runs,
)

HERE = Spot(node_class=ClassName("T4"), node=NodeName("n1"), zone=Zone("z1"), resource=GPU)
HEALTHY = EngineState(at=AT_S, healthy=True, in_flight=Value(3.0, AT_S))


def of(pod: Pod | None, state: EngineState | None = None, spot: Spot = HERE) -> Replica:
    return replica(kept(pod), spot, state)


def waits(reason: str, message: str = "", **more: Any) -> dict[str, Any]:
    waiting = {"waiting": {"reason": reason, "message": message}}
    return {"containerStatuses": [container(waiting, **more)], "conditions": [placed()]}


def test_a_serving_pod_is_a_serving_replica() -> None:
    marked = {marks.LANE_SINCE: "1785578500.5", marks.LENT_SLOTS: "2", marks.SLEEPING: "true"}
    seen = of(a_pod(runs(), lane="serving", annotations=marked), HEALTHY)

    assert (seen.name, seen.model, seen.node_class) == ("chat-1", "chat", "T4")
    assert (seen.lane, seen.phase, seen.version) == (Lane.SERVING, Phase.RUNNING, 42)
    assert (seen.created_at, seen.lane_since) == (AT_S, 1785578500.5)
    assert (seen.node, seen.zone, seen.devices) == ("n1", "z1", 1)
    assert (seen.lent_slots, seen.in_flight) == (2, Value(3.0, AT_S))
    assert seen.healthy
    assert seen.serving


@pytest.mark.parametrize("lane", ["", "standby", "Serving"])
def test_a_pod_without_a_lane_we_know_is_loading(lane: str) -> None:
    seen = of(a_pod(runs(), lane=lane))

    assert seen.lane is Lane.LOADING
    assert seen.lane_since == AT_S


def test_nothing_is_known_of_an_engine_that_was_not_asked() -> None:
    seen = of(a_pod(runs()))

    assert not seen.healthy
    assert not seen.warmed_up
    assert seen.in_flight == NOT_YET


def test_a_warm_up_holds_for_the_start_it_was_done_for_and_no_other() -> None:
    first = kept(a_pod(runs())).started
    marked = {marks.WARMED_UP: first}

    assert of(a_pod(runs(), annotations=marked)).warmed_up
    assert not of(a_pod(runs(restarts=1), annotations=marked)).warmed_up
    assert not of(a_pod(runs(at="2026-08-01T11:00:00Z"), annotations=marked)).warmed_up
    other = runs(containerID="containerd://another1")
    assert not of(a_pod(other, annotations=marked)).warmed_up


def test_a_container_that_does_not_run_is_neither_healthy_nor_warmed_up() -> None:
    marked = {marks.WARMED_UP: ""}
    said = EngineState(at=AT_S, healthy=True, warmed_up=True)

    seen = of(a_pod(waits("CrashLoopBackOff"), lane="serving", annotations=marked), said)

    assert not seen.healthy
    assert not seen.warmed_up


@pytest.mark.parametrize(
    ("pod", "state", "stage"),
    [
        (a_pod({"phase": "Pending"}, node=""), None, Stage.UNSCHEDULED),
        (a_pod({"phase": "Pending", "conditions": [placed()]}), None, Stage.PULLING),
        (a_pod({"phase": "Pending", **waits("ContainerCreating")}), None, Stage.PULLING),
        (a_pod(runs()), None, Stage.LOADING_MODEL),
        (a_pod(runs()), EngineState(at=0, healthy=False), Stage.LOADING_MODEL),
        (a_pod(runs()), HEALTHY, Stage.WARMING_UP),
        (a_pod(runs()), EngineState(at=0, healthy=True, warmed_up=True), Stage.UP),
    ],
)
def test_how_far_a_pod_is(pod: Pod | None, state: EngineState | None, stage: Stage) -> None:
    assert of(pod, state).stage is stage


def test_the_schedulers_sentence_is_given_on() -> None:
    said = "0/9 nodes are available: 9 Insufficient nvidia.com/gpu."
    refused = {
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": said, "lastTransitionTime": AT,
    }  # fmt: skip
    seen = of(a_pod({"phase": "Pending", "conditions": [refused]}, node=""))

    assert seen.unschedulable_since == AT_S
    assert seen.note == said


def test_a_pod_behind_a_scheduling_gate_is_not_unschedulable() -> None:
    gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
             "message": "Scheduling is blocked due to non-empty scheduling gates"}  # fmt: skip
    seen = of(a_pod({"phase": "Pending", "conditions": [gated]}, node=""))

    assert seen.unschedulable_since is None
    assert seen.note.startswith("Scheduling is blocked")


OOM = {"terminated": {"reason": "OOMKilled", "exitCode": 137, "startedAt": AT, "finishedAt": AT}}


@pytest.mark.parametrize(
    ("status", "note"),
    [
        (runs(), ""),
        (runs(restarts=1, lastState=OOM), "OOMKilled (exit code 137), restarted once"),
        (
            waits("CrashLoopBackOff", "back-off 40s", lastState=OOM, restartCount=4),
            "CrashLoopBackOff after OOMKilled (exit code 137), restarted 4 times",
        ),
        (
            waits("ImagePullBackOff", 'Back-off pulling image "vllm:9"'),
            'ImagePullBackOff: Back-off pulling image "vllm:9"',
        ),
        (waits("CreateContainerConfigError", 'secret "k" not found'),
         'CreateContainerConfigError: secret "k" not found'),
        ({"containerStatuses": [container(OOM)]}, "OOMKilled (exit code 137)"),
        ({"phase": "Failed", "reason": "Evicted", "message": "low on memory"},
         "Evicted: low on memory"),
        ({"phase": "Failed", "containerStatuses": [container(OOM)]}, "OOMKilled (exit code 137)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_the_words_people_know(status: dict[str, Any], note: str) -> None:
    assert of(a_pod(status)).note == note


def test_a_container_that_keeps_ending_or_does_not_come_up_is_stuck_one_that_loads_is_not() -> None:
    assert of(a_pod(waits("ImagePullBackOff"))).stuck
    assert of(a_pod({"containerStatuses": [container(OOM)]})).stuck
    assert not of(a_pod(waits("ContainerCreating"))).stuck
    assert not of(a_pod(runs(restarts=1, lastState=OOM))).stuck


def test_an_init_container_that_is_stuck_is_told_too() -> None:
    stuck = waits("PodInitializing")
    stuck["initContainerStatuses"] = [
        container({"waiting": {"reason": "ErrImagePull", "message": "no such image"}}, "fetch")
    ]
    assert of(a_pod(stuck)).note == "ErrImagePull: no such image"


def test_r4_a_pod_that_says_running_on_a_silent_node_is_not_in_service() -> None:
    silent = Spot(node_class=ClassName("T4"), node=NodeName("n1"), answers=False)
    seen = of(a_pod(runs(), lane="serving"), HEALTHY, silent)

    assert seen.phase is Phase.RUNNING
    assert not seen.serving
    assert seen.note == "node n1 is silent"


def test_a_pod_that_is_being_deleted_is_terminating_and_one_that_ended_has_failed() -> None:
    leaving = a_pod(runs(), deletionTimestamp=AT)

    assert of(leaving).phase is Phase.TERMINATING
    assert of(a_pod({"phase": "Succeeded"})).phase is Phase.FAILED
    assert of(a_pod({"phase": "Failed"}, deletionTimestamp=AT)).phase is Phase.FAILED
    assert of(a_pod({"phase": "Unknown"})).phase is Phase.RUNNING


def test_an_adopted_pod_answers_by_the_container_that_holds_the_devices() -> None:
    asks = {"resources": {"limits": {GPU: "2"}}}
    spec = {"containers": [{"name": "mesh"}, {"name": "vllm", **asks}]}
    running = container({"running": {"startedAt": AT}}, "vllm")
    pod = kept(a_pod({"containerStatuses": [running]}, spec=spec))

    assert pod.container == "vllm"
    assert pod.started
    assert pod.devices == {GPU: 2}


def test_devices_are_counted_as_the_scheduler_counts() -> None:
    def asking(name: str, count: str, **more: str) -> dict[str, Any]:
        return {"name": name, "resources": {"requests": {GPU: count}}, **more}

    spec = {
        "containers": [asking("engine", "2"), asking("draft", "1")],
        "initContainers": [asking("warm", "4"), asking("side", "1", restartPolicy="Always")],
    }
    assert kept(a_pod(runs(), spec=spec)).devices == {GPU: 4}
    smaller = {**spec, "initContainers": [asking("side", "2", restartPolicy="Always")]}
    assert kept(a_pod(runs(), spec=smaller)).devices == {GPU: 5}


def test_pods_of_others_are_kept_only_for_the_devices_they_hold() -> None:
    assert a_pod(runs(), model="", node_class="", devices={}) is None
    notebook = kept(a_pod(runs(), model="", node_class="", devices={GPU: "1"}))
    assert notebook.devices == {GPU: 1}
    assert notebook.holds
    assert not kept(a_pod({"phase": "Succeeded"}, model="", devices={GPU: "1"})).holds


def test_a_pod_no_scheduler_spoke_of_says_whose_word_it_waits_for() -> None:
    spec = {"schedulerName": "volcano", "nodeName": ""}
    refused = {"type": "PodScheduled", "status": "False", "message": "no node fits"}

    waits = kept(a_pod({"phase": "Pending"}, spec=spec))
    told = kept(a_pod({"phase": "Pending", "conditions": [refused]}, spec=spec))

    assert waits.note == "the scheduler volcano has not looked at it yet"
    assert told.note == "no node fits"


def test_annotations_that_somebody_else_wrote_are_not_believed() -> None:
    marked = {marks.LANE_SINCE: "yesterday", marks.LENT_SLOTS: "NaN", marks.SLEEPING: "yes"}
    seen = of(a_pod(runs(), annotations=marked))

    assert (seen.lane_since, seen.lent_slots, seen.sleeping) == (AT_S, 0, False)
