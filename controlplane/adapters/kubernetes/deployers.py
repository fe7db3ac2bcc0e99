"""Who would write a Deployment again that we adopt: Helm, Argo CD or Flux, as its marks say.

They own whole manifests and come back with them. A number in theirs and ours would take turns,
with pods that go and come; one that theirs never names is left alone.
"""

from collections.abc import Mapping

from controlplane.adapters.kubernetes.client import Manifest

_FLUX = "toolkit.fluxcd.io"
_ARGO_CD = ("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance")


def written_again(live: Manifest) -> str | None:
    """Say in a sentence who would set the number back, and what keeps them from it."""
    about = live["metadata"]
    marks = {**(about.get("annotations") or {}), **(about.get("labels") or {})}
    said = _flux(marks) or _argo_cd(marks) or _helm(marks)
    where = f"{about.get('namespace', 'default')}/{about['name']}"
    return f"Deployment {where} belongs to {said}" if said else None


def _flux(marks: Mapping[str, str]) -> str | None:
    release, kept = (_named(marks, kind) for kind in ("helm", "kustomize"))
    if release:
        return (
            f"Flux HelmRelease {release}: its next upgrade would set the number of replicas back, "
            f"unless its chart names none"
        )
    if kept:
        return (
            f"Flux Kustomization {kept}: its next reconciliation would set the number of replicas "
            f"back, unless the manifest there names none"
        )
    return None


def _named(marks: Mapping[str, str], kind: str) -> str | None:
    name = marks.get(f"{kind}.{_FLUX}/name")
    return f"{marks.get(f'{kind}.{_FLUX}/namespace', '')}/{name}" if name else None


def _argo_cd(marks: Mapping[str, str]) -> str | None:
    """An application is named before the first colon; a label holds nothing else."""
    application = next((marks[key].split(":")[0] for key in _ARGO_CD if key in marks), None)
    if application is None:
        return None
    return (
        f"Argo CD application {application}: its next sync would set the number of replicas back, "
        f"unless its manifest names none or its ignoreDifferences have /spec/replicas with "
        f"RespectIgnoreDifferences=true"
    )


def _helm(marks: Mapping[str, str]) -> str | None:
    if marks.get("app.kubernetes.io/managed-by") != "Helm":
        return None
    release = marks.get("meta.helm.sh/release-name", "of unknown name")
    return (
        f"Helm release {release}: the next helm upgrade would set the number of replicas back, "
        f"unless its chart names none"
    )
