"""How each engine shows itself: names of its metrics, health, and what it answers when full."""

from importlib import import_module

from controlplane.emulation.faces.face import Face

FACES = {
    "vllm": "vllm",  # 0.9.2 and later, and vLLM-Ascend
    "vllm-old": "vllm_old",  # 0.5
    "sglang": "sglang",
    "tgi": "tgi",
    "triton": "triton",
    "mindie": "mindie",
    "tensorrt-llm": "tensorrt_llm",
    "other": "plain",
}


def face(engine: str) -> Face:
    """Give an engine's face; only its own module is imported."""
    found: Face = import_module(f"{__name__}.{FACES[engine]}").FACE
    return found
