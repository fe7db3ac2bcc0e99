"""A small fleet file, and how to break it: one line replaced at a time."""

from controlplane.settings import FaultsError, checked

SMALL = """\
node_classes:
  T4:
    vendor: nvidia
    resource: nvidia.com/gpu
    vram_gib: 16
    price_per_hour: 0.53
    runtime: {kind: cuda, version: "12.8"}
pools:
  - {node_class: T4, zone: zone-a, nodes: 1, devices_per_node: 4}
models:
  classifier:
    team: support
    need: {vram_gib: 7}
    variants:
      T4:
        image: registry.example.com/classifier:1
        runtime: {kind: cuda, version: "12.4"}
        slots: 8
        service_s: 0.08
        load_s: 90
    policy:
      scaling: {min: 1, max: 3}
      admission: {reserve: 1}
"""


def with_line(line: int, text: str, fleet: str = SMALL) -> str:
    """Give the fleet with one line replaced, its indentation kept; lines count from 1."""
    lines = fleet.splitlines()
    old = lines[line - 1]
    lines[line - 1] = old[: len(old) - len(old.lstrip())] + text
    return "\n".join(lines) + "\n"


def faults_of(text: str) -> list[str]:
    """Give the fault lines of a fleet file; none when it is good."""
    try:
        checked(text, "fleet.yaml")
    except FaultsError as error:
        return list(error.lines)
    return []


def warnings_of(text: str) -> list[str]:
    """Give the warnings of a good fleet file."""
    return [str(warning) for warning in checked(text, "fleet.yaml").warnings]
