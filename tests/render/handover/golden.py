"""Golden files: what is rendered is what was looked at and found good.

Write them anew: CONTROLPLANE_GOLDEN=write pytest tests/render/handover; then read the difference.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from controlplane.render.naming import Manifest
from controlplane.settings.manifests import manifests_text

GOLDEN = Path(__file__).parent / "golden"


def check(name: str, manifests: Iterable[Manifest]) -> None:
    check_text(GOLDEN / name, manifests_text(manifests))


def check_text(path: Path, text: str) -> None:
    if os.environ.get("CONTROLPLANE_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text, f"{path} differs; see tests/render/handover/golden.py"
