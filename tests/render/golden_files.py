"""Manifests as they were looked at by a person once: `python -m tests.render.golden_files` writes.

Whoever changes a rendering sees in the difference what clusters will see.
"""

import json
from collections.abc import Callable
from pathlib import Path

from controlplane.domain.serving import Weights
from controlplane.render.deployment import budget, deployment
from controlplane.render.endpoints import model_service
from controlplane.render.naming import Manifest
from controlplane.render.placing import Ground
from controlplane.render.pre_pull import pre_pull
from tests.render.variants import (
    CATALOGUE,
    EVERYTHING,
    NPU,
    PLAIN,
    SEEN,
    SPACE,
    T4,
    everything,
    plain,
    weighed,
)

HOST_PATH = Weights(kind="host-path", name="/srv/weights", mount_path="/weights")
MODEL_CACHE = Weights(kind="local-model-cache", name="llama-8b")
FOLDER = Path(__file__).parent / "golden"

RENDERED: dict[str, Callable[[], Manifest | None]] = {
    "deployment-plain": lambda: deployment(plain(), 3),
    "deployment-everything": lambda: deployment(everything(), 0),
    "deployment-host-path": lambda: deployment(weighed(HOST_PATH), 1),
    "deployment-local-model-cache": lambda: deployment(weighed(MODEL_CACHE), 1),
    "budget": lambda: budget(plain()),
    "service": lambda: model_service(PLAIN, CATALOGUE.models[PLAIN], SPACE),
    "service-everything": lambda: model_service(EVERYTHING, CATALOGUE.models[EVERYTHING], SPACE),
    "pre-pull-daemon-set": lambda: pre_pull(CATALOGUE, T4, SPACE, SEEN),
    "pre-pull-image-volume": lambda: pre_pull(CATALOGUE, NPU, SPACE, Ground()),
}


def written(manifest: Manifest | None) -> str:
    return json.dumps(manifest, indent=2) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, render in RENDERED.items():
        (FOLDER / f"{name}.json").write_text(written(render()), "utf-8")


if __name__ == "__main__":
    main()
