"""The API server's no, in one sentence that names verb, resource, namespace and the way out."""

import msgspec
import pytest

from controlplane.adapters.kubernetes.refusals import (
    Asked,
    ConflictError,
    ForbiddenError,
    GoneError,
    InvalidError,
    MissingError,
    RefusedError,
    refusal,
)
from controlplane.adapters.kubernetes.resources import DEPLOYMENTS, NODES, PODS, Place
from controlplane.ports import UnavailableError


def status(message: str, reason: str = "") -> bytes:
    return msgspec.json.encode({"kind": "Status", "message": message, "reason": reason})


def test_forbidden_names_the_commands_that_grant_it() -> None:
    said = (
        'pods is forbidden: User "system:serviceaccount:models:controlplane" cannot list resource '
        '"pods" in API group "" in the namespace "models"'
    )
    asked = Asked("list", Place(PODS, "models"))

    told = refusal(asked, 403, status(said, "Forbidden"))

    assert isinstance(told, ForbiddenError)
    assert isinstance(told, UnavailableError)  # a read that is forbidden cannot be had
    assert str(told) == (
        "list pods in namespace models is forbidden to system:serviceaccount:models:controlplane; "
        "this grants it: kubectl create role controlplane-list-pods --verb=get,list,watch "
        "--resource=pods -n models && kubectl create rolebinding controlplane-list-pods "
        "--role=controlplane-list-pods --serviceaccount=models:controlplane -n models"
    )


def test_what_has_no_namespace_is_granted_by_a_cluster_role() -> None:
    said = 'nodes is forbidden: User "ann" cannot list resource "nodes" at the cluster scope'

    told = str(refusal(Asked("watch", Place(NODES)), 403, status(said)))

    assert "kubectl create clusterrole controlplane-watch-nodes --verb=get,list,watch" in told
    assert "kubectl create clusterrolebinding controlplane-watch-nodes" in told
    assert "--user=ann" in told


def test_a_subresource_is_named_as_rbac_names_it() -> None:
    place = Place(DEPLOYMENTS, "models", "chat-t4", "scale")
    said = 'deployments.apps "chat-t4" is forbidden: User "ann" cannot patch resource'

    told = str(refusal(Asked("patch", place), 403, status(said)))

    assert told.startswith("patch deployments.apps/scale chat-t4 in namespace models is forbidden")
    assert "--verb=patch --resource=deployments.apps/scale -n models" in told


def test_an_apply_of_what_is_not_there_yet_needs_the_right_to_create_it() -> None:
    place = Place(DEPLOYMENTS, "models", "chat-t4")
    said = (
        'deployments.apps "chat-t4" is forbidden: User "ann" cannot create resource "deployments" '
        'in API group "apps" in the namespace "models"'
    )

    told = str(refusal(Asked("patch", place), 403, status(said)))

    assert "create role controlplane-create-deployments --verb=create --resource=deploym" in told


def test_forbidden_by_a_quota_is_not_granted_by_a_role() -> None:
    said = 'pods "a" is forbidden: exceeded quota: gpus'

    told = str(refusal(Asked("create", Place(PODS, "models")), 403, status(said)))

    assert "exceeded quota: gpus" in told
    assert "kubectl create role" not in told


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, InvalidError), (404, MissingError), (405, RefusedError), (409, ConflictError),
        (410, GoneError), (415, InvalidError), (422, InvalidError),
    ],
)  # fmt: skip
def test_a_refusal_is_no_reason_to_skip_a_cycle(code: int, kind: type[RefusedError]) -> None:
    told = refusal(Asked("patch", Place(PODS, "models", "a")), code, status("no", "Because"))

    assert type(told) is kind
    assert isinstance(told, RefusedError)
    assert not isinstance(told, UnavailableError)
    assert (told.code, told.reason) == (code, "Because")
    assert str(told) == "patch pods a in namespace models was refused: no"


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_an_api_server_that_cannot_answer_now_is_away(code: int) -> None:
    told = refusal(Asked("get", Place(PODS, "models", "a")), code, b"<html>bad gateway</html>")

    assert isinstance(told, UnavailableError)
    assert not isinstance(told, RefusedError)
    assert "bad gateway" in str(told)


def test_an_apply_of_a_field_nobody_knows_is_refused_though_it_comes_as_a_500() -> None:
    said = (
        "failed to create typed patch object (models/chat; apps/v1, Kind=Deployment): "
        ".spec.replicaz: field not declared in schema"
    )

    told = refusal(Asked("patch", Place(DEPLOYMENTS, "models", "chat")), 500, status(said))

    assert isinstance(told, InvalidError)
    assert ".spec.replicaz" in str(told)


def test_credentials_nobody_knows_are_said_to_be_so() -> None:
    told = refusal(Asked("list", Place(NODES)), 401, status("Unauthorized"))

    assert isinstance(told, UnavailableError)
    assert "kubectl auth whoami" in str(told)
