"""Where the files lie that ship with the product: pages, migrations, examples.

In a wheel they are inside the package; in a checkout they are the top-level folders.
"""

from importlib.resources import files
from pathlib import Path

_PACKAGE = Path(str(files("controlplane")))


def shipped(name: str) -> Path:
    """Give the folder `web`, `migrations` or `examples`."""
    inside = _PACKAGE / "_shipped" / name
    if inside.is_dir():
        return inside
    checkout = {"examples": "deploy/examples"}.get(name, name)
    return _PACKAGE.parent / checkout
