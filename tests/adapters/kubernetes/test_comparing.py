"""How an object stands, held against what is wanted: pure comparisons, no cluster."""

from copy import deepcopy
from typing import Any

import pytest

from controlplane.adapters.kubernetes.comparing import compared, foreign, must_widen, to_apply
from controlplane.adapters.kubernetes.ownership import Rival
from controlplane.domain import marks
from controlplane.domain.workloads import State
from controlplane.render.desired import Wanted, desired
from controlplane.render.placing import Ground
from tests.render.variants import CATALOGUE, PLAIN, SEEN, SPACE, T4

KEY = "Deployment/embed-t4"


def wanted(ground: Ground = SEEN) -> Wanted:
    return desired(CATALOGUE, {(PLAIN, T4): 1}, SPACE, {T4: ground})[KEY]


def stands(replicas: int = 3, **status: Any) -> dict[str, Any]:
    """As it was applied, with what the API server adds."""
    live = deepcopy(wanted().manifest)
    assert live is not None
    live["spec"]["replicas"] = replicas
    live["metadata"]["resourceVersion"] = "7"
    live["status"] = status
    return live


def test_what_stands_as_it_was_applied_is_settled() -> None:
    assert compared(wanted(), stands(), "", waiting=False).state is State.SETTLED


def test_its_number_and_the_nodes_it_names_stay_when_it_is_applied_again() -> None:
    other = wanted(Ground(values={"nvidia.com/gpu.product": ("T4-new",)}, hosts=("n",)))
    live = stands(5)

    applied = to_apply(other, live)

    assert applied["spec"]["replicas"] == 5
    assert applied["metadata"]["resourceVersion"] == "7"
    pod, was = (m["spec"]["template"]["spec"] for m in (applied, live))
    assert pod["affinity"] == was["affinity"]


def test_pods_that_wait_in_vain_are_worth_naming_new_nodes() -> None:
    other = wanted(Ground(values={"nvidia.com/gpu.product": ("T4-new",)}, hosts=("n",)))

    assert must_widen(other, stands())
    assert not must_widen(wanted(), stands())
    assert compared(other, stands(), "", waiting=True).state is State.CHANGED
    assert compared(other, stands(), "", waiting=False).state is State.SETTLED


def test_another_catalogue_is_a_change() -> None:
    live = stands()
    live["metadata"]["annotations"][marks.RENDERED] = "of yesterday"

    assert compared(wanted(), live, "", waiting=False).state is State.CHANGED


def test_a_rollout_that_makes_no_progress_is_said_with_its_own_words() -> None:
    condition = {
        "type": "Progressing",
        "status": "False",
        "reason": "ProgressDeadlineExceeded",
        "message": "ReplicaSet has timed out",
    }

    piece = compared(wanted(), stands(conditions=[condition]), "kubectl …", waiting=False)

    assert (piece.state, piece.why) == (State.STUCK, "ReplicaSet has timed out")


def test_a_number_that_another_writes_by_policy_stays_as_it_is_and_is_no_drift() -> None:
    elsewhere = wanted()._replace(elsewhere=True)
    keda = {"manager": "keda", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    live = stands(4)
    ours = {"manager": "controlplane", "fieldsV1": {"f:metadata": {}, "f:spec": {}}}
    live["metadata"]["managedFields"] = [ours, keda]

    assert to_apply(elsewhere, live)["spec"]["replicas"] == 4
    assert compared(elsewhere, live, "", waiting=False).state is State.SETTLED
    assert compared(wanted(), live, "", waiting=False).by == "keda"


def test_a_deployment_begins_with_what_its_writer_can_go_on_from() -> None:
    elsewhere = wanted()._replace(elsewhere=True, begins=1)

    assert to_apply(elsewhere, None)["spec"]["replicas"] == 1
    assert to_apply(wanted(), None)["spec"]["replicas"] == 0


@pytest.mark.parametrize(
    ("ours", "rival", "by"),
    [
        (False, None, "helm"),
        (False, Rival("scaledobject", "x", "models"), "helm, KEDA ScaledObject x"),
        (True, Rival("hpa", "x", "models"), "HorizontalPodAutoscaler x"),
        (True, None, None),
    ],
)
def test_whose_it_is(ours: bool, rival: Rival | None, by: str | None) -> None:
    live = stands()
    live["metadata"]["managedFields"] = [{"manager": "helm", "fieldsV1": {"f:spec": {}}}]
    if not ours:
        del live["metadata"]["annotations"][marks.MANAGED_BY]

    piece = foreign(wanted(), live, rival, "kubectl …")

    assert (piece.by if piece else None) == by
