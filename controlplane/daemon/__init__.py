"""The daemon: the composition root and what only it may know together."""

from controlplane.daemon.composition import Daemon, serve
from controlplane.daemon.surroundings import StartError

__all__ = ["Daemon", "StartError", "serve"]
