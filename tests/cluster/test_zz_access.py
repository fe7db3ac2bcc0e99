"""After all other tests: what the daemon was granted, it used.

Run last, by its name: every daemon of every test had exactly the rights of deploy/kubernetes, and
the audit log has all that was asked under them.
"""

import re

import pytest

from tests.cluster.accounts import DEPLOYED
from tests.cluster.audit import Audit
from tests.cluster.handed import Cluster
from tests.cluster.manifests import shipped

DAEMON = re.compile(r"system:serviceaccount:[^:]+:controlplane")
ENOUGH = 300  # requests; fewer are no whole run of the tests
# Proven under an administrator's account, at the code that asks.
ELSEWHERE = {
    ("events.events.k8s.io", "patch"),  # announcing: only what is told again
    ("pods", "delete"),  # sizing: only where a shrink would take another than the drained one
}


async def granted(cluster: Cluster) -> set[tuple[str, str]]:
    found = set()
    for one in await shipped(cluster, DEPLOYED):
        for rule in one.get("rules", ()) if one["kind"] in ("Role", "ClusterRole") else ():
            (group,) = rule["apiGroups"]
            for resource in rule["resources"]:
                name, _, sub = resource.partition("/")
                full = f"{name}.{group}".rstrip(".") + (f"/{sub}" if sub else "")
                found |= {(full, verb) for verb in rule["verbs"]}
    return found


def asked(audit: Audit) -> list[tuple[str, str]]:
    """Give resource and verb of whatever any daemon asked for."""
    found = []
    for request in audit.requests():
        path = re.match(r"/api(?:s/([^/]+))?/v\w+/", request.request_uri)
        if path is None or not DAEMON.fullmatch(request.user.username):
            continue
        place = request.object_ref
        name = f"{place.resource}.{path[1] or ''}".rstrip(".")
        sub = f"/{place.subresource}" if place.subresource else ""
        found.append((name + sub, request.verb))
    return found


@pytest.mark.whole
async def test_no_verb_is_granted_that_no_daemon_used(cluster: Cluster) -> None:
    audit = Audit(cluster.audit_log)
    audit._from = 0  # from the cluster's first hour
    requests = asked(audit)
    if len(requests) < ENOUGH:
        pytest.skip(f"only {len(requests)} requests of daemons: run all of tests/cluster")

    used = set(requests) | ELSEWHERE
    used |= {(name, "create") for name, verb in used if verb == "patch"}  # an apply needs both
    assert sorted(await granted(cluster) - used) == []
