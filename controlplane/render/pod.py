"""The pod of a variant: its container, its devices, its weights, its way out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil

from controlplane.domain import marks
from controlplane.domain.catalogue import Catalogue, Model, NodeClass, Variant
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.domain.serving import Serving, Weights
from controlplane.render import probes
from controlplane.render.naming import Manifest, selector
from controlplane.render.placing import Ground, node_affinity, tolerations, zone_spread

GRACE_MARGIN_S = 10.0  # for the engine's own end, after its last stream
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
VOLCANO_QUEUE = "scheduling.volcano.sh/queue-name"

# An engine may listen on its own address alone: `--host $(POD_IP)` among its arguments.
_OWN_ADDRESS: Manifest = {
    "name": "POD_IP",
    "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """One variant and all that its manifests are made of."""

    name: ModelName
    class_name: ClassName
    model: Model
    variant: Variant
    node_class: NodeClass
    devices: int  # one replica holds so many
    namespace: str
    ground: Ground = field(default_factory=Ground)

    @property
    def labels(self) -> dict[str, str]:
        """What its pods are selected by, in whatever lane."""
        return selector(self.name, self.class_name)


def placed(
    catalogue: Catalogue,
    key: tuple[ModelName, ClassName],
    devices: int,
    namespace: str,
    ground: Ground | None = None,
) -> Placed:
    """Gather what a variant's manifests are made of."""
    name, class_name = key
    model = catalogue.models[name]
    return Placed(
        name=name,
        class_name=class_name,
        model=model,
        variant=model.variants[class_name],
        node_class=catalogue.node_classes[class_name],
        devices=devices,
        namespace=namespace,
        ground=ground or Ground(),
    )


def queue_labels(serving: Serving) -> dict[str, str]:
    """Name the queue to Kueue, which reads it from labels of the Deployment and of its pods."""
    if serving.scheduled_by == "kueue" and serving.queue is not None:
        return {KUEUE_QUEUE: serving.queue}
    return {}


def pod_template(of: Placed) -> Manifest:
    """Give the template a variant's pods are made of. It names no lane: a new pod is loading."""
    serving = of.model.serving
    metadata: Manifest = {"labels": {**of.labels, **queue_labels(serving)}}
    if serving.scheduled_by == "volcano" and serving.queue is not None:
        metadata["annotations"] = {VOLCANO_QUEUE: serving.queue}
    grace = serving.pre_stop_s + serving.longest_request_s + GRACE_MARGIN_S
    spec: Manifest = {
        "terminationGracePeriodSeconds": ceil(grace),
        "automountServiceAccountToken": False,
        # A Service called vllm would hand the engine a VLLM_PORT that it takes for its own.
        "enableServiceLinks": False,
        "affinity": node_affinity(of.class_name, of.node_class, of.ground),
        "tolerations": tolerations(of.node_class, of.ground),
        "topologySpreadConstraints": zone_spread(of.labels, strict=serving.spread == "strict"),
        "containers": [_container(of)],
    }
    volumes = [*_weights_volume(serving.weights), *_shared_memory(of.devices)]
    if volumes:
        spec["volumes"] = volumes
    if serving.scheduled_by == "volcano":
        spec["schedulerName"] = "volcano"
    return {"metadata": metadata, "spec": spec}


def _container(of: Placed) -> Manifest:
    serving, written = of.model.serving, of.variant.container
    container: Manifest = {
        "name": marks.CONTAINER,
        "image": of.variant.image,
        "ports": _ports(serving),
        "resources": _resources(of),
        "startupProbe": probes.startup(of.name, of.model, of.variant.load_s),
        "readinessProbe": probes.readiness(of.name, of.model),
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    if written.command:
        container["command"] = list(written.command)
    if written.args:
        container["args"] = list(written.args)
    container["env"] = [_OWN_ADDRESS, *_environment(written.env), *_secrets(written.secret_env)]
    if serving.pre_stop_s:
        container["lifecycle"] = {"preStop": {"sleep": {"seconds": ceil(serving.pre_stop_s)}}}
    mounts = _mounts(serving.weights, of.devices)
    if mounts:
        container["volumeMounts"] = mounts
    return container


def _ports(serving: Serving) -> list[Manifest]:
    ports = [{"name": probes.HTTP, "containerPort": serving.port, "protocol": "TCP"}]
    if serving.metrics_port not in {None, serving.port}:
        metrics = serving.metrics_port
        ports.append({"name": probes.METRICS, "containerPort": metrics, "protocol": "TCP"})
    return ports


def _resources(of: Placed) -> Manifest:
    """Give whole devices: of extended resources a request must equal its limit."""
    device = {of.node_class.resource: str(of.devices)}
    limits, requests = dict(device), dict(device)
    if of.model.serving.cpu is not None:
        requests["cpu"] = of.model.serving.cpu
    if of.model.serving.memory is not None:
        limits["memory"] = requests["memory"] = of.model.serving.memory
    return {"limits": limits, "requests": requests}


def _environment(env: Mapping[str, str]) -> list[Manifest]:
    return [{"name": name, "value": value} for name, value in sorted(env.items())]


def _secrets(secret_env: Mapping[str, str]) -> list[Manifest]:
    given = []
    for name, where in sorted(secret_env.items()):
        secret, _, key = where.partition("/")
        reference = {"name": secret, "key": key}
        given.append({"name": name, "valueFrom": {"secretKeyRef": reference}})
    return given


def _weights_volume(weights: Weights | None) -> list[Manifest]:
    """Give the weights; KServe's LocalModelCache is a claim of that name in every namespace."""
    if weights is None:
        return []
    if weights.kind == "host-path":
        return [{"name": "weights", "hostPath": {"path": weights.name, "type": "Directory"}}]
    claim = {"claimName": weights.name, "readOnly": True}
    return [{"name": "weights", "persistentVolumeClaim": claim}]


def _shared_memory(devices: int) -> list[Manifest]:
    """Engines on several devices talk over shared memory; a container has 64 MiB by default."""
    return [{"name": "shm", "emptyDir": {"medium": "Memory"}}] if devices > 1 else []


def _mounts(weights: Weights | None, devices: int) -> list[Manifest]:
    mounts: list[Manifest] = []
    if weights is not None:
        mounts.append({"name": "weights", "mountPath": weights.mount_path, "readOnly": True})
    if devices > 1:
        mounts.append({"name": "shm", "mountPath": "/dev/shm"})  # noqa: S108  # its place on Linux
    return mounts
