"""A real KEDA asks over TLS: it trusts who signed our certificate, and shows one of its own."""

from pathlib import Path

import pytest

from tests.cluster.credentials import sign
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.handed import Handed, let_publish
from tests.cluster.stage.scene import Scene

pytestmark = [pytest.mark.keda, pytest.mark.usefixtures("keda")]
REST = 2  # replicas, the spare included
NAME = "scaler"  # of what KEDA shows and trusts


def signed(stage: Scene, name: str) -> tuple[Path, Path]:
    """Give a certificate and its key, signed by the authority of the cluster."""
    home = stage.cluster.ca.parent
    sign(home, f"{stage.namespace}-{name}", "ca", "DNS:localhost,IP:127.0.0.1")
    found = home / f"{stage.namespace}-{name}"
    return found.with_suffix(".crt"), found.with_suffix(".key")


def over_tls(stage: Scene) -> tuple[str, ...]:
    """Give the options: our certificate, and who must have signed KEDA's."""
    certificate, key = signed(stage, "ours")
    return (
        *("--scaler-certificate", str(certificate), "--scaler-key", str(key)),
        *("--scaler-authority", str(stage.cluster.ca)),
    )


async def let_keda_show(stage: Scene, certificate: Path, key: Path) -> None:
    """Give KEDA a certificate, and the authority it is to trust."""
    files = {"caCert": stage.cluster.ca, "tlsClientCert": certificate, "tlsClientKey": key}
    head = {"name": NAME, "namespace": stage.namespace}
    held = {name: file.read_text() for name, file in files.items()}
    await stage.api.create(
        {"apiVersion": "v1", "kind": "Secret", "metadata": head, "stringData": held}
    )
    await stage.api.create(
        {
            "apiVersion": "keda.sh/v1alpha1",
            "kind": "TriggerAuthentication",
            "metadata": head,
            "spec": {
                "secretTargetRef": [{"parameter": each, "name": NAME, "key": each} for each in held]
            },
        }
    )


async def test_both_show_a_certificate_and_keda_obeys(stage: Scene) -> None:
    await stage.nodes.add("T4", 1, zone="z1")
    await let_publish(stage)
    await let_keda_show(stage, *signed(stage, "kedas"))
    fleet = fleet_text(scaling="writer: keda")
    handed = Handed(stage, fleet, f", tls: true, authentication: {NAME}")

    async with handed.daemon(*over_tls(stage)), handed.sizes() as sizes:
        await sizes.reach(REST, 90.0)


async def test_a_keda_that_shows_none_gets_no_answer_and_nothing_moves(stage: Scene) -> None:
    await stage.nodes.add("T4", 1, zone="z1")
    await let_publish(stage)
    handed = Handed(stage, fleet_text(scaling="writer: keda"), ", tls: true")
    place = f"/apis/keda.sh/v1alpha1/namespaces/{stage.namespace}/scaledobjects/chat-t4"

    async with handed.daemon(*over_tls(stage)), handed.sizes() as sizes:
        await sizes.reach(0, 90.0)
        await stage.api.until(place, refused)
        seen = list(sizes.seen)

    assert seen == [0]


def refused(scaled_object: dict[str, object]) -> bool:
    status = scaled_object.get("status")
    said = status.get("conditions", []) if isinstance(status, dict) else []
    return any(one["type"] == "Ready" and one["status"] == "False" for one in said)
