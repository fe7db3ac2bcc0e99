"""What Envoy would be given for one model, whole and static, as the gateway writes it.

The gateway's own Envoy reads the same from files that follow the fleet; `controlplane gateway
render` writes those. Requests pass by admission here too: its workers answer at the socket named.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from controlplane.cli.engines_option import EngineArgument
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.quantities import ModelName
from controlplane.gateway.planning import static_plan
from controlplane.render.envoy import Site, whole
from controlplane.render.naming import dns_label

RUN = "/run/controlplane"
TICKET = "TICKET"  # whoever knows the real one passes by admission: it is not printed
SITE = Site(
    folder=RUN,
    listen=("127.0.0.1", 10080),
    admin=(f"{RUN}/admin.sock", 0),
    workers=((f"{RUN}/admit0.sock", 0),),
    secret=TICKET,
)


def envoy_config(
    name: ModelName,
    catalogue: Catalogue,
    namespace: str,
    engines: Sequence[EngineArgument],
    replicas: int | None,
) -> dict[str, Any]:
    """Give the configuration; without engines, the model's Service stands for its replicas."""
    at = engines or [service(name, catalogue, namespace, replicas)]
    plan = static_plan(catalogue, at)
    mine = tuple(model for model in plan.models if model.name == name)
    return whole(msgspec.structs.replace(plan, models=mine), SITE)


def service(
    name: ModelName, catalogue: Catalogue, namespace: str, replicas: int | None
) -> EngineArgument:
    """Give the Service as one engine with the slots of all its replicas."""
    model = catalogue.models[name]
    serving = model.policy.scaling.min if replicas is None else replicas
    slots = min(variant.slots for variant in model.variants.values()) * max(1, serving)
    host = f"{dns_label(name)}.{namespace}.svc.{catalogue.istio.cluster_domain}"
    return EngineArgument(name, host, model.serving.port, slots)
