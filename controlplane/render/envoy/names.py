"""Names the gateway and Envoy share. Headers of ours that a client sends are cut off on arrival."""

from controlplane.domain.reasons import ReasonCode

TICKET = "x-admission-ticket"  # the only way to an engine
CLUSTER = "x-controlplane-cluster"  # which replicas: a model's, or its lending spares
PROBE = "x-controlplane-probe"  # the request probes a breaker
REASON = "x-controlplane-reason"
PRIORITY = "x-priority"
REQUEST_TYPE = "x-request-type"
DEADLINE = "x-deadline-s"  # seconds from now after which the caller wants no answer any more
API_KEY = "x-api-key"
TIMEOUT = "x-envoy-upstream-rq-timeout-ms"

METADATA = "controlplane"  # namespace of what Envoy read from a body
MODELS = "/models/"
ADMISSION = "admission"  # the cluster of admission workers
PEERS = "gateways"
LENT = "~lent"

# Envoy obeys these from any client it believes to be internal; ours are the only ones it may obey.
OBEYED = (
    TIMEOUT,
    "x-envoy-upstream-rq-per-try-timeout-ms",
    "x-envoy-retry-on",
    "x-envoy-retry-grpc-on",
    "x-envoy-max-retries",
    "x-envoy-hedge-on-per-try-timeout",
    "x-envoy-upstream-alt-stat-name",
    "x-envoy-original-path",
)


def cluster_name(model: str, *, lent: bool = False) -> str:
    """Name the Envoy cluster of a model's replicas in service, or of its lending spares."""
    return f"{model}{LENT}" if lent else model


def reason_word(code: ReasonCode) -> str:
    """Write a code as a header's value: NoEndpoints is no-endpoints."""
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in code.value).lstrip("-")
