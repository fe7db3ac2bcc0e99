"""The daemon: the composition root and what only it may know together."""

from controlplane.daemon.composition import Daemon, StartError, serve

__all__ = ["Daemon", "StartError", "serve"]
