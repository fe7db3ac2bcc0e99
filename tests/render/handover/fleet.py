"""The fleet whose manifests are kept as golden files: each seed's policy, and two classes."""

from controlplane.domain.catalogue import Catalogue
from controlplane.settings import parse_catalogue

TEXT = """\
currency: USD
node_classes:
  A100-80G: &a100
    vendor: nvidia
    resource: nvidia.com/gpu
    vram_gib: 80
    price_per_hour: 3.43
    runtime: {kind: cuda, version: "12.8"}
  T4: {<<: *a100, vram_gib: 15, price_per_hour: 0.53}
signals:
  prometheus: {address: "http://prometheus.monitoring:9090"}
models:
  chat: &chat # seed-000
    team: text
    profile: seed-000
    need: {vram_gib: 70}
    variants:
      A100-80G: &variant
        image: vllm/vllm-openai:v0.11.0
        runtime: {kind: cuda, version: "12.8"}
        slots: 14
        service_s: 0.125
        load_s: 90
  sdxl: # seed-001
    <<: *chat
    profile: seed-001
    policy: {scaling: {min: 2, max: 6}, objectives: {high: {wait_p99_s: 2, latency_p99_s: 4}}}
    serving: {engine: sglang}
  qwen-7b: # seed-004
    <<: *chat
    profile: seed-004
  both:
    <<: *chat
    profile: controlplane
    need: {vram_gib: 10}
    policy: {scaling: {min: 1, max: 9}, spare: {count: 2}, objectives: {high: {wait_p99_s: 0.5}}}
    variants: {A100-80G: *variant, T4: *variant}
"""
NAMESPACE = "inference"


def a_fleet() -> Catalogue:
    return parse_catalogue(TEXT, "fleet.yaml")
