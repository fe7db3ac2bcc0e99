"""What the kubelet asks an engine. It decides when traffic may flow, never whether to promote.

A start is given as long as our own limit for it and more, so that a replica that loads too slowly
is replaced by a decision with a reason, not killed by a probe without one. There is no liveness
probe: an engine that is busy answers late, and killing it then would be the worst one can do.
"""

from math import ceil

from controlplane.domain.catalogue import Model
from controlplane.domain.quantities import ModelName
from controlplane.domain.serving import Serving
from controlplane.render.naming import Manifest

STARTUP_S, READINESS_S = 2, 5  # periods; a start is seen soon, a busy engine is let be
START_MARGIN = 1.5  # over our own limit
HTTP, METRICS = "http", "metrics"


def startup(name: ModelName, model: Model, load_s: float) -> Manifest:
    """Wait for the engine to come up."""
    worst = START_MARGIN * max(model.policy.spare.load_limit_s, 2 * load_s)
    return {
        "httpGet": _ask(name, model.serving),
        "periodSeconds": STARTUP_S,
        "timeoutSeconds": _timeout(model.serving),
        "failureThreshold": ceil(worst / STARTUP_S),
    }


def readiness(name: ModelName, model: Model) -> Manifest:
    """Take an engine that stops answering out of the endpoints after two periods."""
    return {
        "httpGet": _ask(name, model.serving),
        "periodSeconds": READINESS_S,
        "timeoutSeconds": _timeout(model.serving),
        "failureThreshold": 2,
        "successThreshold": 1,
    }


def _timeout(serving: Serving) -> int:
    return max(1, ceil(serving.health.timeout_s))


def _ask(name: ModelName, serving: Serving) -> Manifest:
    """Ask where the health adapter asks; what stands in the answer only the adapter can judge."""
    path = {
        "models": "/v1/models",
        "kserve-v2": f"/v2/models/{serving.served_name or name}/ready",
    }.get(serving.health.how, serving.health.path)
    port = serving.health.port or HTTP
    return {"path": path, "port": port, "scheme": "HTTPS" if serving.tls else "HTTP"}
