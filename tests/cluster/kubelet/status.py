"""The status of a pod as a kubelet would write it, from how its containers are."""

from collections.abc import Sequence

from controlplane.clock import wall
from tests.cluster.api import Manifest
from tests.cluster.kubelet.container import Container
from tests.cluster.kubelet.moments import stamp


class StatusOf:
    """Words for one pod; remembers since when each condition holds."""

    def __init__(self, address: str, host: str) -> None:
        self._began = stamp(wall())
        self._since: dict[str, tuple[bool, str]] = {}
        self._addresses = {
            "podIP": address, "podIPs": [{"ip": address}],
            "hostIP": host, "hostIPs": [{"ip": host}], "startTime": self._began,
        }  # fmt: skip

    def status(
        self, pod: Manifest, init: Sequence[Container], containers: Sequence[Container]
    ) -> Manifest:
        """Give what to write now."""
        initialised = all(one.done for one in init)
        ready = bool(containers) and initialised and all(one.ready for one in containers)
        phase = _phase(containers, initialised=initialised)
        return {
            **self._addresses,
            "phase": phase,
            "conditions": [
                self._condition("PodReadyToStartContainers", holds=True),
                self._condition("Initialized", holds=initialised),
                self._condition("ContainersReady", holds=ready),
                self._condition("Ready", holds=ready and gates_open(pod)),
            ],
            "initContainerStatuses": [one.status() for one in init],
            "containerStatuses": [one.status() for one in containers],
        }

    def _condition(self, kind: str, *, holds: bool) -> Manifest:
        was, since = self._since.get(kind, (not holds, ""))
        if was is not holds:
            since = stamp(wall())
            self._since[kind] = holds, since
        return {"type": kind, "status": str(holds), "lastTransitionTime": since}


def gates_open(pod: Manifest) -> bool:
    """Say whether every readiness gate of a pod is open; one that nobody set is shut."""
    said = {c["type"]: c["status"] for c in pod.get("status", {}).get("conditions", ())}
    gates = pod["spec"].get("readinessGates", ())
    return all(said.get(gate["conditionType"]) == "True" for gate in gates)


def _phase(containers: Sequence[Container], *, initialised: bool) -> str:
    if containers and all(one.done for one in containers):
        codes = [one.state.get("terminated", {}).get("exitCode", 0) for one in containers]
        return "Failed" if any(codes) else "Succeeded"
    never_ran = all(
        "running" not in one.state and not one.last_state and "terminated" not in one.state
        for one in containers
    )
    return "Pending" if never_ran or not initialised else "Running"
