"""A selector as it stands in an object, written as queries want it."""

from controlplane.adapters.kubernetes.client import Manifest


def selected_by(live: Manifest) -> str:
    """Write a Deployment's selector as a query does."""
    selector = live["spec"]["selector"]
    terms = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for each in selector.get("matchExpressions") or []:
        key, values = each["key"], ",".join(each.get("values") or [])
        terms.append(
            {
                "In": f"{key} in ({values})",
                "NotIn": f"{key} notin ({values})",
                "Exists": key,
                "DoesNotExist": f"!{key}",
            }[each["operator"]]
        )
    return ",".join(terms)
