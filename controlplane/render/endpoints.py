"""A model's Kubernetes Service: whatever class its replicas run on, those in service get requests.

The lane in its selector is what a promotion flips; it takes about 20 ms to reach the endpoints.
"""

from controlplane.domain import marks
from controlplane.domain.catalogue import Model
from controlplane.domain.quantities import ModelName
from controlplane.domain.replicas import Lane
from controlplane.render.naming import Manifest, dns_label, metadata
from controlplane.render.probes import HTTP


def model_service(name: ModelName, model: Model, namespace: str) -> Manifest:
    """Render a model's Service."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(dns_label(name), namespace, {marks.MODEL: name}),
        "spec": {
            "selector": {marks.MODEL: name, marks.LANE: Lane.SERVING.value},
            "ports": [
                {
                    "name": HTTP,
                    "port": model.serving.port,
                    "targetPort": HTTP,
                    "protocol": "TCP",
                }
            ],
        },
    }
