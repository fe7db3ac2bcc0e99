"""Names people give to tokens, keys and tenants, and models they name."""

import re

from controlplane.domain.catalogue import is_name
from controlplane.domain.faults import Fault, FaultsError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,62}")
RULE = "must be letters, digits and . _ @ -, at most 63, beginning with a letter or digit"


def checked(option: str, told: str) -> str:
    """Give a name back; raises FaultsError where it is none."""
    if not NAME.fullmatch(told):
        raise FaultsError([Fault(option, None, "", told[:80], RULE)])
    return told


def model_name(option: str, told: str) -> str:
    """Give back what may be a model's name, also where no catalogue says which there are."""
    if not is_name(told):
        rule = "is no model's name: letters, digits and - _ . inside, at most 63"
        raise FaultsError([Fault(option, None, "", told[:80], rule)])
    return told
