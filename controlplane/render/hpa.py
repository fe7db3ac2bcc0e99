"""The HorizontalPodAutoscaler of a variant, for those without KEDA.

It carries out our decision, which it reads as an external metric: `controlplane_wanted_replicas`,
one series a variant, served by whatever serves external.metrics.k8s.io (deploy/prometheus has the
rule for prometheus-adapter). An HPA never goes to zero.
"""

from controlplane.domain import marks
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.quantities import ModelName
from controlplane.render.behavior import obeying
from controlplane.render.naming import Manifest, deployment_name, metadata
from controlplane.render.scaled_object import bounds

WANTED = "controlplane_wanted_replicas"


def hpas(name: ModelName, catalogue: Catalogue, namespace: str) -> list[Manifest]:
    """Render the HPAs of a model: one for each of its variants."""
    model = catalogue.models[name]
    least, most = bounds(model, "target")
    made = []
    for class_name in model.variants:
        deployment = deployment_name(name, model, class_name)
        labels = {marks.MODEL: str(name), marks.CLASS: str(class_name)}
        made.append(
            {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "metadata": metadata(deployment, namespace, labels),
                "spec": {
                    "scaleTargetRef": {
                        "apiVersion": "apps/v1",
                        "kind": "Deployment",
                        "name": deployment,
                    },
                    "minReplicas": max(1, least),
                    "maxReplicas": most,
                    "metrics": [_wanted(str(name), str(class_name))],
                    "behavior": obeying(most, tolerance=catalogue.keda.tolerance),
                },
            }
        )
    return made


def _wanted(model: str, class_name: str) -> Manifest:
    return {
        "type": "External",
        "external": {
            "metric": {
                "name": WANTED,
                "selector": {"matchLabels": {"model": model, "node_class": class_name}},
            },
            "target": {"type": "AverageValue", "averageValue": "1"},
        },
    }
