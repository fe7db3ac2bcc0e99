"""Every object a catalogue asks of a cluster, by kind and name, or why one cannot be written.

What a manifest says is told by a digest on the object, so that a change of the catalogue is seen
without comparing with what the API server added. Hints that follow the nodes (affinity by values
that were seen, tolerations) are not in it: a new node must not replace every pod of a fleet.
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

from controlplane.domain import marks
from controlplane.domain.catalogue import Catalogue, Model
from controlplane.domain.overrides import FLEET
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.domain.workloads import PieceKey
from controlplane.render.deployment import budget, deployment
from controlplane.render.endpoints import model_service
from controlplane.render.naming import Manifest, deployment_name, pre_pull_name
from controlplane.render.placing import Ground, NowhereError
from controlplane.render.pod import placed
from controlplane.render.pre_pull import pre_pull

Grounds: TypeAlias = Mapping[ClassName, Ground]
Devices: TypeAlias = Mapping[tuple[ModelName, ClassName], int]


class Wanted(NamedTuple):
    """One object that should stand."""

    kind: str
    name: str
    subject: str  # the model it is for, or the fleet
    node_class: ClassName | None = None
    manifest: Manifest | None = None
    why: str = ""  # there is no manifest: one sentence
    adopted: bool = False  # it was there before us; only its number and labels are ours
    elsewhere: bool = False  # somebody else writes its number, by the model's policy
    begins: int = 0  # that number, when it is made; KEDA takes it from 0, an HPA leaves 0 alone

    @property
    def key(self) -> PieceKey:
        """Name it among all."""
        return f"{self.kind}/{self.name}"

    @property
    def template(self) -> str:
        """Give the digest that its pods carry."""
        pods = (self.manifest or {}).get("spec", {}).get("template", {}).get("metadata", {})
        return str((pods.get("annotations") or {}).get(marks.RENDERED, ""))


def desired(
    catalogue: Catalogue, devices: Devices, namespace: str, grounds: Grounds
) -> dict[PieceKey, Wanted]:
    """Render everything."""
    wanted: list[Wanted] = []
    for (name, class_name), count in devices.items():
        if catalogue.models[name].serving.scheduled_by != "kuberay":  # KubeRay makes the pods
            key, ground = (name, class_name), grounds.get(class_name, Ground())
            wanted += of_variant(catalogue, key, count, namespace, ground)
    for name, model in catalogue.models.items():
        if any(variant.deployment is None for variant in model.variants.values()):
            wanted.append(_service(name, model, namespace))
    for class_name in catalogue.node_classes:
        wanted += _images(catalogue, class_name, namespace, grounds.get(class_name, Ground()))
    return {each.key: each for each in wanted}


def of_variant(
    catalogue: Catalogue,
    key: tuple[ModelName, ClassName],
    devices: int,
    namespace: str,
    ground: Ground,
) -> Iterator[Wanted]:
    """Render what one variant asks for."""
    name, class_name = key
    model = catalogue.models[name]
    variant = model.variants[class_name]
    named = deployment_name(name, model, class_name)
    of = placed(catalogue, key, devices, namespace, ground)
    writer = model.policy.scaling.writer
    begins = 1 if writer in {"hpa", "nobody"} else 0
    made = Wanted(
        "Deployment", named, name, class_name, elsewhere=writer != "controlplane", begins=begins
    )
    if variant.deployment is not None:
        yield made._replace(adopted=True)
    else:
        try:
            manifest = deployment(of, 0)
        except NowhereError as cause:
            yield made._replace(why=str(cause))
        else:
            facts = _class_facts(catalogue, class_name)
            _seal_template(manifest, facts)
            seal = {"class": facts, "object": _lasting(manifest)}
            yield made._replace(manifest=_sealed(manifest, seal))
    standing = budget(of)
    yield Wanted(
        "PodDisruptionBudget", named, name, class_name, manifest=_sealed(standing, standing)
    )


def _service(name: ModelName, model: Model, namespace: str) -> Wanted:
    manifest = model_service(name, model, namespace)
    sealed = _sealed(manifest, manifest)
    return Wanted("Service", manifest["metadata"]["name"], name, manifest=sealed)


def _images(
    catalogue: Catalogue, class_name: ClassName, namespace: str, ground: Ground
) -> Iterator[Wanted]:
    made = Wanted("DaemonSet", pre_pull_name(class_name), FLEET, class_name)
    try:
        manifest = pre_pull(catalogue, class_name, namespace, ground)
    except NowhereError:  # no node of the class: there is nowhere to bring images to
        return
    if manifest is not None:
        seal = {"class": _class_facts(catalogue, class_name), "object": _lasting(manifest)}
        yield made._replace(manifest=_sealed(manifest, seal))


def _lasting(manifest: Manifest) -> Manifest:
    """Leave out what follows the nodes, and the number of pods."""
    template = manifest["spec"]["template"]
    pod = {k: v for k, v in template["spec"].items() if k not in {"affinity", "tolerations"}}
    spec = {k: v for k, v in manifest["spec"].items() if k != "replicas"}
    return {**manifest, "spec": {**spec, "template": {**template, "spec": pod}}}


def _class_facts(catalogue: Catalogue, class_name: ClassName) -> Mapping[str, Any]:
    size = catalogue.node_classes[class_name]
    return {"labels": dict(size.labels), "taints": size.taints}


def _sealed(manifest: Manifest, lasting: Mapping[str, Any]) -> Manifest:
    """Note on an object what it says."""
    head = manifest["metadata"]
    notes = {**head["annotations"], marks.RENDERED: _digest(lasting)}
    return {**manifest, "metadata": {**head, "annotations": notes}}


def _seal_template(manifest: Manifest, facts: Mapping[str, Any]) -> None:
    """Note on the pods to be what their template said, so that those of an old one are known."""
    said = {"class": facts, "template": _lasting(manifest)["spec"]["template"]}
    about = manifest["spec"]["template"]["metadata"]
    about["annotations"] = {**about.get("annotations", {}), marks.RENDERED: _digest(said)}


def _digest(said: Mapping[str, Any]) -> str:
    written = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return sha256(written.encode()).hexdigest()[:16]
