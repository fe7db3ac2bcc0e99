"""Which resources are spoken of, and where the API has them."""

import msgspec


class Resource(msgspec.Struct, frozen=True):
    """A kind of object: its API group and version, and its name in paths."""

    group: str  # empty for the core
    version: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """Give what stands in a manifest."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def full(self) -> str:
        """Give the name kubectl knows it by."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def root(self) -> str:
        """Give where its group and version begin."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


class Place(msgspec.Struct, frozen=True):
    """Where objects are: one by name, all of a namespace, or all there are."""

    resource: Resource
    namespace: str | None = None
    name: str | None = None
    sub: str | None = None  # status, scale

    @property
    def path(self) -> str:
        """Give the path in the API."""
        resource = self.resource
        inside = self.namespace if resource.namespaced else None
        where = f"/namespaces/{inside}" if inside else ""
        parts = [part for part in (self.name, self.sub) if part]
        return "/".join([f"{resource.root}{where}/{resource.plural}", *parts])

    @property
    def full(self) -> str:
        """Give the resource as RBAC names it."""
        return f"{self.resource.full}/{self.sub}" if self.sub else self.resource.full


NAMESPACES = Resource("", "v1", "namespaces", namespaced=False)
NODES = Resource("", "v1", "nodes", namespaced=False)
PODS = Resource("", "v1", "pods")
SERVICES = Resource("", "v1", "services")
CONFIG_MAPS = Resource("", "v1", "configmaps")
EVENTS = Resource("events.k8s.io", "v1", "events")
DEPLOYMENTS = Resource("apps", "v1", "deployments")
DAEMON_SETS = Resource("apps", "v1", "daemonsets")
AUTOSCALERS = Resource("autoscaling", "v2", "horizontalpodautoscalers")
DISRUPTION_BUDGETS = Resource("policy", "v1", "poddisruptionbudgets")
LEASES = Resource("coordination.k8s.io", "v1", "leases")
SCALED_OBJECTS = Resource("keda.sh", "v1alpha1", "scaledobjects")
RAY_SERVICES = Resource("ray.io", "v1", "rayservices")
