"""A cluster's settings as they are compared: ours as rendered, and those a running Envoy tells.

Envoy leaves out what is as if it were not said, and writes durations in its own way; both sides are
brought to one form, so that what differs really differs.
"""

import re
from json import dumps
from typing import Any

from controlplane.render.envoy.protos import Plain

_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")
UNSAID = (0, False, "", "DEFAULT", None)  # what Envoy does not write


def settled(said: Any) -> Any:
    """Leave out what is as if unsaid; durations as numbers of seconds."""
    match said:
        case dict():
            kept = {key: settled(value) for key, value in said.items()}
            return {key: value for key, value in sorted(kept.items()) if not _unsaid(value)}
        case list():
            return [settled(value) for value in said]
        case str() if duration := _DURATION.fullmatch(said):
            return f"{float(duration[1]):g}s"
        case float() if said.is_integer():
            return int(said)
    return said


def written(cluster: Plain) -> str:
    """Write a cluster's settings for people, line by line; who is in it is none of them."""
    own = {key: value for key, value in cluster.items() if key != "load_assignment"}
    return dumps(settled(own), indent=1, ensure_ascii=False)


def _unsaid(value: Any) -> bool:
    return value in ({}, []) or any(value is one or value == one for one in UNSAID)
