"""What is wrong with a plan, found before Envoy sees anything of it."""

from collections import Counter
from collections.abc import Iterator
from ipaddress import ip_address

from controlplane.domain.faults import Fault
from controlplane.domain.gateway import Endpoint, GatewayPlan, ServedModel
from controlplane.render.envoy.names import LENT, MODELS

SOURCE = "gateway"
PORTS = range(1, 65536)


def plan_faults(plan: GatewayPlan) -> list[Fault]:
    """Give every fault; a plan with one is not rendered, and the old one stays in force."""
    return [
        *_twice(plan),
        *(fault for model in plan.models for fault in _model(model)),
        *(fault for at in plan.peers for fault in _endpoint("peers", at)),
    ]


def _model(model: ServedModel) -> Iterator[Fault]:
    where = f"models.{model.name}"
    if LENT in model.name or "/" in model.name:
        yield Fault(SOURCE, None, where, model.name, f"may not contain / or {LENT}")
    if model.prefix is not None and MODELS.startswith(f"{model.prefix.rstrip('/')}/"):
        rule = f"stands before {MODELS}, under which every model is found by its name"
        yield Fault(SOURCE, None, f"{where}.entrance.prefix", model.prefix, rule)
    for at in model.endpoints:
        yield from _endpoint(f"{where}.endpoints", at)
    for name, times in Counter(at.replica for at in model.endpoints).items():
        if times > 1:
            yield Fault(SOURCE, None, f"{where}.endpoints", name, f"is there {times} times")


def _endpoint(where: str, at: Endpoint) -> Iterator[Fault]:
    place = f"{where}.{at.replica}"
    try:
        ip_address(at.host)
    except ValueError:
        yield Fault(SOURCE, None, f"{place}.host", at.host, "is no IP address")
    if at.port not in PORTS:
        yield Fault(SOURCE, None, f"{place}.port", str(at.port), "is no port (1 to 65535)")
    if at.slots < 0:
        yield Fault(SOURCE, None, f"{place}.slots", str(at.slots), "is below 0")


def _twice(plan: GatewayPlan) -> Iterator[Fault]:
    """A way that leads to two models leads to neither."""
    ways = {
        "name": [(n, m.name) for m in plan.models for n in dict.fromkeys((m.name, *m.names))],
        "host": [(h.lower(), m.name) for m in plan.models for h in m.hosts],
        "prefix": [(m.prefix, m.name) for m in plan.models if m.prefix is not None],
    }
    for kind, found in ways.items():
        first: dict[str, str] = {}
        for way, model in found:
            if way in first:
                rule = f"is a {kind} of {first[way]} already"
                yield Fault(SOURCE, None, f"models.{model}.entrance", way, rule)
            first.setdefault(way, model)
