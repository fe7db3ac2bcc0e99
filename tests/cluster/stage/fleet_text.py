"""The fleet of the end-to-end tests: one small chat model, emulated, on two kinds of card."""

from textwrap import indent

_ENGINE = """
container:
  command: [controlplane, emulate]
  args: [--host, $(POD_IP), --port, "8000", --model, chat, --slots, "{slots}",
         --service-s, "{service_s}", --load-s, "{load_s}", --cold-requests, "4"{more}]
"""

_FLEET = """
node_classes:
  T4:
    vendor: nvidia
    resource: nvidia.com/gpu
    vram_gib: 15
    price_per_hour: 0.53
    runtime: {{kind: cuda, version: "12.8"}}
    labels: {{nvidia.com/gpu.product: "Tesla-T4"}}
  A100-80G:
    vendor: nvidia
    resource: nvidia.com/gpu
    vram_gib: 80
    price_per_hour: 3.43
    runtime: {{kind: cuda, version: "12.8"}}
    labels: {{nvidia.com/gpu.product: "NVIDIA-A100-SXM4-80GB"}}
models:
  chat:
    team: support
    kind: chat
    need: {{vram_gib: 10}}
    variants:
      T4:
        image: emulated:1
        image_gib: 1
        runtime: {{kind: cuda, version: "12.8"}}
        slots: {slots}
        service_s: {service_s}
        load_s: {load_s}
{engine}
      A100-80G:
        image: emulated:1
        image_gib: 1
        runtime: {{kind: cuda, version: "12.8"}}
        slots: {slots}
        service_s: {service_s}
        load_s: {load_s}
{engine}
    serving:
      engine: vllm
      health: {{how: models}}
      pre_stop_s: 1
      longest_request_s: 30
      pre_pull: none
      warm_up: {{max_tokens: 2}}
    policy:
      objectives:
        medium: {{wait_p99_s: 0.5}}
      scaling:
        {{min: {least}, max: {most}, backoff_s: 10, steady_s: 15,
          stabilisation_s: {stabilisation_s}{scaling}}}
      spare: {{count: {spares}, warmup_requests: 8, rotate_s: {rotate_s}, drain_limit_s: 40{spare}}}
"""


def fleet_text(
    *,
    slots: int = 4,
    service_s: float = 0.2,
    load_s: float = 1.0,
    least: int = 1,
    most: int = 6,
    spares: int = 1,
    rotate_s: str = "null",
    stabilisation_s: float = 10.0,
    scaling: str = "",
    spare: str = "",
    engine: str = "",
) -> str:
    """Write the fleet file; `engine` are more arguments of `emulate`, with a comma before each."""
    more = f", {engine}" if engine else ""
    container = _ENGINE.format(slots=slots, service_s=service_s, load_s=load_s, more=more)
    return _FLEET.format(
        engine=indent(container.strip("\n"), " " * 8),
        slots=slots,
        service_s=service_s,
        load_s=load_s,
        least=least,
        most=most,
        spares=spares,
        rotate_s=rotate_s,
        stabilisation_s=stabilisation_s,
        scaling=f", {scaling}" if scaling else "",
        spare=f", {spare}" if spare else "",
    )
