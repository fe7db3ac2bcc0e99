"""How each engine shows itself: names of its metrics, health, and what it answers when full."""

from importlib import import_module

from controlplane.emulation.faces.face import Face
from controlplane.emulation.spec import FACES


def face(engine: str) -> Face:
    """Give an engine's face; only its own module is imported."""
    found: Face = import_module(f"{__name__}.{FACES[engine]}").FACE
    return found
