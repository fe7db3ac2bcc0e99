"""Who else writes a number, from what HPAs and ScaledObjects say of themselves."""

from typing import Any

import msgspec
import pytest

from controlplane.adapters.kubernetes.fencing import WrittenByAnotherError
from controlplane.adapters.kubernetes.ownership import Rival, Rivals, Scaler, by_target
from controlplane.adapters.kubernetes.sizing import check_owner
from controlplane.domain import marks

CHAT = "Deployment/chat"
BY_KEDA = Rival("scaledobject", "theirs", "models", hpa="keda-hpa-theirs")


def scaler(name: str, owner: str = "", target: str = "chat") -> Scaler:
    owners = [{"kind": "ScaledObject", "name": owner, "controller": True}] if owner else []
    said = {
        "metadata": {"name": name, "ownerReferences": owners},
        "spec": {"scaleTargetRef": {"kind": "Deployment", "name": target}},
    }
    return msgspec.convert(said, Scaler)


def test_keda_is_named_with_the_hpa_that_it_made() -> None:
    found = by_target([scaler("keda-hpa-theirs", "theirs")], [scaler("theirs")], "models")

    assert found == {CHAT: BY_KEDA}
    assert BY_KEDA.by == (
        "KEDA ScaledObject theirs (through HorizontalPodAutoscaler keda-hpa-theirs)"
    )
    assert BY_KEDA.show == "kubectl get scaledobject theirs -n models"


def test_keda_is_known_by_either_of_the_two_alone() -> None:
    assert by_target([scaler("keda-hpa-theirs", "theirs")], [], "models") == {CHAT: BY_KEDA}

    paused = by_target([], [scaler("theirs")], "models")[CHAT]
    assert paused.by == "KEDA ScaledObject theirs"


def test_each_target_has_its_own_and_a_plain_hpa_is_one() -> None:
    found = by_target(
        [scaler("plain", target="other"), scaler("also-plain")], [scaler("theirs")], "models"
    )

    assert found["Deployment/other"].by == "HorizontalPodAutoscaler plain"
    assert found["Deployment/other"].show == "kubectl get hpa plain -n models"
    assert found[CHAT].by == "KEDA ScaledObject theirs"


def a_deployment(annotations: dict[str, str]) -> dict[str, Any]:
    written = [{"manager": "their-tool", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]
    about = {"name": "chat", "annotations": annotations, "managedFields": written}
    return {"metadata": about, "spec": {"replicas": 1}}


NOT_OURS = (
    "Deployment chat is not managed by controlplane but written by their-tool; kubectl get "
    "deployment chat -n models --show-managed-fields -o yaml shows it, controlplane adopt "
    "models/chat takes it over"
)
NEITHER_ITS_NUMBER = (
    "Deployment chat is not managed by controlplane but written by their-tool, and its number by "
    "KEDA ScaledObject theirs (through HorizontalPodAutoscaler keda-hpa-theirs); kubectl get "
    "scaledobject theirs -n models shows that, and once it is deleted controlplane adopt "
    "models/chat takes it over"
)
NOT_ITS_NUMBER = (
    "the number of Deployment chat is written by KEDA ScaledObject theirs (through "
    "HorizontalPodAutoscaler keda-hpa-theirs) and would be by controlplane too; kubectl get "
    "scaledobject theirs -n models shows it"
)


@pytest.mark.parametrize(
    ("annotations", "rivals", "said"),
    [
        ({}, {}, NOT_OURS),
        ({}, {CHAT: BY_KEDA}, NEITHER_ITS_NUMBER),
        ({marks.MANAGED_BY: marks.MANAGER}, {CHAT: BY_KEDA}, NOT_ITS_NUMBER),
    ],
)
def test_a_number_of_another_is_refused_with_who_writes_it_and_the_command_that_helps(
    annotations: dict[str, str], rivals: Rivals, said: str
) -> None:
    with pytest.raises(WrittenByAnotherError) as refused:
        check_owner(a_deployment(annotations), rivals, "models")

    assert str(refused.value) == said
