"""Who comes back with a whole manifest is told from the marks it leaves on a Deployment."""

from typing import Any

import pytest

from controlplane.adapters.kubernetes.deployers import written_again

HELM = {"app.kubernetes.io/managed-by": "Helm"}
OF_HELM = {"meta.helm.sh/release-name": "chat", "meta.helm.sh/release-namespace": "models"}
OF_FLUX = {"helm.toolkit.fluxcd.io/name": "chat", "helm.toolkit.fluxcd.io/namespace": "flux"}
KEPT = {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux"}
TRACKED = {"argocd.argoproj.io/tracking-id": "fleet:apps/Deployment:models/chat"}
LABELLED = {"argocd.argoproj.io/instance": "fleet"}


def deployment(labels: dict[str, str], annotations: dict[str, str]) -> dict[str, Any]:
    about = {"name": "chat", "namespace": "models", "labels": labels, "annotations": annotations}
    return {"metadata": about, "spec": {"replicas": 2}}


@pytest.mark.parametrize(
    ("labels", "annotations", "whose", "when"),
    [
        (HELM, OF_HELM, "Helm release chat", "the next helm upgrade"),
        (HELM | OF_FLUX, OF_HELM, "Flux HelmRelease flux/chat", "its next upgrade"),
        (KEPT, {}, "Flux Kustomization flux/apps", "its next reconciliation"),
        ({}, TRACKED, "Argo CD application fleet", "its next sync"),
        (HELM | LABELLED, {}, "Argo CD application fleet", "its next sync"),
    ],
)
def test_who_would_set_the_number_back_is_named_and_when(
    labels: dict[str, str], annotations: dict[str, str], whose: str, when: str
) -> None:
    said = written_again(deployment(labels, annotations))

    assert said is not None
    assert said.startswith(
        f"Deployment models/chat belongs to {whose}: {when} would set the number of replicas back, "
        f"unless "
    )


@pytest.mark.parametrize(
    "labels",
    [{}, {"app.kubernetes.io/managed-by": "kustomize"}, {"app.kubernetes.io/instance": "chat"}],
)
def test_a_deployment_without_such_marks_is_nobodys(labels: dict[str, str]) -> None:
    assert written_again(deployment(labels, {})) is None
    assert written_again({"metadata": {"name": "chat"}}) is None
