"""Who wrote what, read from managedFields as an API server writes them."""

from typing import Any

from controlplane.adapters.kubernetes.field_owners import drift, managers, number_writer

DESIRED: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "chat", "namespace": "models", "labels": {"a": "1"}},
    "spec": {
        "replicas": 2,
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "engine",
                        "image": "x:1",
                        "args": ["--a"],
                        "ports": [{"containerPort": 8000, "protocol": "TCP"}],
                    }
                ],
                "tolerations": [{"key": "gpu", "operator": "Exists"}],
            }
        },
    },
}
ENGINE = 'k:{"name":"engine"}'
PORT = 'k:{"containerPort":8000,"protocol":"TCP"}'


def fields(**engine: Any) -> dict[str, Any]:
    """Everything in DESIRED, as applied by us; the container's fields can be taken away."""
    of_engine: dict[str, Any] = {
        ".": {},
        "f:name": {},
        "f:image": {},
        "f:args": {},
        "f:ports": {PORT: {".": {}, "f:containerPort": {}, "f:protocol": {}}},
    }
    for name in engine:
        of_engine.pop(f"f:{name}")
    pod = {"f:containers": {ENGINE: of_engine}, "f:tolerations": {}}
    return {
        "f:metadata": {"f:labels": {"f:a": {}}},
        "f:spec": {"f:replicas": {}, "f:template": {"f:spec": pod}},
    }


def live(*entries: tuple[str, dict[str, Any]], status: str = "") -> dict[str, Any]:
    managed = [{"manager": name, "fieldsV1": of} for name, of in entries]
    if status:
        managed.append({"manager": status, "subresource": "status", "fieldsV1": fields()})
    return {"metadata": {"managedFields": managed}}


def image() -> dict[str, Any]:
    return {"f:spec": {"f:template": {"f:spec": {"f:containers": {ENGINE: {"f:image": {}}}}}}}


def test_what_is_all_ours_has_not_drifted() -> None:
    assert drift(DESIRED, live(("controlplane", fields()), status="kubelet")) is None


def test_a_field_another_took_is_named_as_people_write_it() -> None:
    found = drift(DESIRED, live(("controlplane", fields(image=0)), ("kubectl-edit", image())))

    assert found is not None
    assert found.by == "kubectl-edit"
    assert found.what == "spec.template.spec.containers[engine].image"


def test_a_field_that_is_new_in_the_catalogue_is_nobodys_yet() -> None:
    assert drift(DESIRED, live(("controlplane", fields(args=0)))) is None


def test_what_both_wrote_alike_has_not_drifted() -> None:
    assert drift(DESIRED, live(("controlplane", fields()), ("helm", image()))) is None


def test_fields_of_ours_over_several_entries_are_taken_together() -> None:
    scaled: dict[str, Any] = {"f:spec": {"f:replicas": {}}}
    rest = fields()
    del rest["f:spec"]["f:replicas"]

    assert drift(DESIRED, live(("controlplane", rest), ("controlplane", scaled))) is None


def test_the_number_is_whoever_wrote_it_last() -> None:
    scaled: dict[str, Any] = {"f:spec": {"f:replicas": {}}}
    rest = fields()
    del rest["f:spec"]["f:replicas"]

    assert number_writer(live(("controlplane", fields()))) is None
    assert number_writer(live(("controlplane", rest), ("kubectl", scaled))) == "kubectl"
    assert number_writer(live()) is None


def test_everybody_who_wrote_is_named_once() -> None:
    seen = live(("helm", image()), ("kubectl", image()), ("helm", fields()))

    assert managers(seen) == ["helm", "kubectl"]
