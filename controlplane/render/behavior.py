"""How fast an HPA may move: our step limits and our window in its words.

Where the HPA only carries out what we decided, its own dampers must be out of the way: a decision
that was held for the window once would be held for it twice. A step limit it lacks is named all the
same, for whatever is left out gets a default of 4 pods or 100 % in 15 s.
"""

from math import ceil, floor

from controlplane.domain.catalogue import Model
from controlplane.domain.policies import ScalingPolicy
from controlplane.render.naming import Manifest

LONGEST_WINDOW_S = 3600  # the API server takes no more
LONGEST_PERIOD_S = 1800
LEAST_WINDOW_S, SETTLING_S = 120.0, 30.0  # our default: the load time and a moment more
AT_ONCE_S = 15


def obeying(most: int, *, tolerance: bool) -> Manifest:
    """Carry out what was decided: at once, in one step, however small the difference."""
    rule: Manifest = {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [{"type": "Pods", "value": max(1, most), "periodSeconds": AT_ONCE_S}],
    }
    if tolerance:
        rule = {**rule, "tolerance": "0"}
    return {"scaleUp": dict(rule), "scaleDown": dict(rule)}


def deciding(model: Model) -> Manifest:
    """Decide by a signal: with the policy's steps up and down, and its window before a fall."""
    policy = model.policy.scaling
    period = min(LONGEST_PERIOD_S, max(1, ceil(policy.step_period_s)))
    return {
        "scaleUp": {
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": _up(policy, period),
        },
        "scaleDown": {
            "stabilizationWindowSeconds": min(LONGEST_WINDOW_S, ceil(window_s(model))),
            "selectPolicy": "Max",
            "policies": [_down(policy, period)],
        },
    }


def window_s(model: Model) -> float:
    """Give the stabilisation window: as set, else the load time and a moment, at least 120 s."""
    if model.policy.scaling.stabilisation_s is not None:
        return model.policy.scaling.stabilisation_s
    slowest = max(variant.load_s for variant in model.variants.values())
    return max(LEAST_WINDOW_S, slowest + SETTLING_S)


def _up(policy: ScalingPolicy, period: int) -> list[Manifest]:
    if policy.step_up is not None:
        return [{"type": "Pods", "value": policy.step_up, "periodSeconds": period}]
    steps: list[Manifest] = []
    if policy.cold_step_share is None:
        steps.append({"type": "Pods", "value": policy.max, "periodSeconds": period})
    else:
        share = floor(policy.cold_step_share * 100)
        steps.append({"type": "Pods", "value": policy.cold_step_min, "periodSeconds": period})
        if share:
            steps.append({"type": "Percent", "value": share, "periodSeconds": period})
    return steps


def _down(policy: ScalingPolicy, period: int) -> Manifest:
    if policy.step_down is None:
        return {"type": "Percent", "value": 100, "periodSeconds": period}
    return {"type": "Pods", "value": policy.step_down, "periodSeconds": period}
