"""What every node of ours shares: it is all one machine."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """Where pods have their files, and whom they trust."""

    pods: Path
    authority: Path  # who signed the API server's certificate
